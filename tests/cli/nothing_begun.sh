# A run that fails before its first record leaves nothing behind, and --resume
# still means the run before it.
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 --trace none/t.json -q 2>&1
ls -A
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 --out here --interface none0 2>/dev/null
ls -A
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 -q >out.txt
readlink muster-runs/latest >latest
for wrong in '--trace none/t.json' '--interface none0'; do
    "$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 $wrong -q 2>/dev/null
    readlink muster-runs/latest | cmp latest - && echo 'the same latest'
done
ls muster-runs | wc -l
mkdir ours
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 2 --out ours --interface none0 2>/dev/null
ls -d ours
