# Small files are read whole: a pipe with a name, which nobody may ever write
# into, is refused; what is open already is read, and data of any pipe.
try() { timeout 60 "$MUSTER" "$@" 2>&1 >/dev/null; echo "exit $?"; }
mkfifo pipe
printf '1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n' >t.svm
quick="--optim gd --steps 3 -q"
"$MUSTER" train t.svm m $quick >/dev/null
echo dense2 >net.txt
try train t.svm --net pipe $quick
try train t.svm --net dense2 --init pipe --passes 1 -q
try predict t.svm pipe
try predict pipe pipe
try model show pipe
try model convert pipe out
try train t.svm --config pipe
try train t.svm -n 2 --delay trace:pipe
try codes matrix:pipe -n 2
try simulate t.svm -n 2 --code matrix:pipe --steps 2
echo "--- nor written: a training would be over before anybody reads"
try train t.svm pipe $quick
ln -s pipe link
try train t.svm link -n 2 $quick --out run
try train t.svm -n 2 $quick --out run --trace pipe
try train t.svm -n 2 $quick --out run --record pipe
try predict t.svm m pipe
try model convert m pipe
try report none --to pipe
try simulate -n 4 --no-compute --steps 3 --csv pipe
try simulate -n 4 --no-compute --steps 3 --plot pipe
try plan generate pipe -n 4 --steps 5
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
try train t.svm socket $quick
ls -d run 2>/dev/null
echo "--- what is open already is written"
"$MUSTER" train t.svm /dev/fd/3 $quick 3>&1 >/dev/null | cmp - m
"$MUSTER" train t.svm /dev/stdout $quick | cmp - m
cat pipe >got &
"$MUSTER" train t.svm - $quick >pipe
wait
cmp got m
echo "--- read as before"
try predict t.svm /dev/stdin -q <m
cat m | try predict t.svm /dev/stdin -q
cat m | try predict t.svm /dev/fd/0 -q
cat net.txt | try train t.svm --net /dev/stdin --passes 1 -q
echo "steps=3" | try train t.svm --optim gd -q --config /dev/fd/0
cat t.svm | try train - $quick
cat t.svm | try train /dev/stdin $quick
cat t.svm >pipe &
try train pipe $quick
cat t.svm >pipe &
try predict pipe m -q
wait
