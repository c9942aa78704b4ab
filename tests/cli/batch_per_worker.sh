# What --batch-per-worker comes to is said before the run, and a warm-up that is
# longer than the run.
said() { "$MUSTER" train "$@" 2>&1 >/dev/null | grep -e "muster: --"; }
net="gen:digits:300 --net dense10"
said $net -n 2 --batch-per-worker 32 --passes 5
said $net -n 2 --batch-per-worker 32 --passes 5 --lr 0.01 --warmup 0
said $net -n 2 --batch-per-worker 300 --passes 5
said gen:gmm:300,5 -n 3 --batch-per-worker 20 --passes 5
said $net --passes 2 --warmup 6
said $net --passes 2 --warmup 5 || echo "nothing said"
said $net -n 2 --batch-per-worker 32 --passes 5 -q || echo "nothing said"
