# Colours, cells and joint entropy of digits, and what samples keep of it; a
# user's own filters; a picture; what is refused.
"$MUSTER" data entropy gen:digits:3000
"$MUSTER" data entropy gen:digits:300 --filters label+block:0,1 --format json |
    python3 -c 'import json, sys; d = json.load(sys.stdin); print(
        [(f["filter"], f["cells"]) for f in d["filters"]], len(d["samples"]))'
"$MUSTER" data entropy gen:gmm:500,4 --plot entropy.svg >table.txt
head -n 8 table.txt
grep -c polyline entropy.svg
"$MUSTER" data entropy gen:gmm:500,4 --filters edges 2>&1
echo "exit $?"
"$MUSTER" data entropy gen:gmm:500,4 --filters smile 2>&1
echo "exit $?"
