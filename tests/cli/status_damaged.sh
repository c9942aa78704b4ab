exec 2>&1
# A search that was stopped can be gone on with, unless what it kept is damaged:
# then `muster status` says what --resume would.
seq 8 | awk '{ print ($1 % 2) " 1:" $1 }' >few.svm
"$MUSTER" train few.svm --model logistic -v 2 -n 2 --out search -q >/dev/null
rm search/search.json
"$MUSTER" status search
echo "exit $?"
cp search/series kept
for damage in x "" "$(head -c 40 kept)" "$(tr 0-9 z <kept)"; do
    printf '%s' "$damage" >search/series
    "$MUSTER" status search
    echo "exit $?"
    "$MUSTER" status search --format json
    echo "exit $?"
    "$MUSTER" train --resume=search -q
    echo "exit $?"
done
rm search/series
mkfifo search/series
"$MUSTER" status search
rm search/series
truncate -s 2T search/series
"$MUSTER" status search
