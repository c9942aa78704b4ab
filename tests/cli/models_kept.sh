# A model, and what its card says of it, is the work of hours: no plot, report,
# trace or list of numbers is written over it.
try() { "$MUSTER" "$@" 2>&1 >/dev/null | grep model,; }
printf '1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n' >t.svm
gd='--model logistic --optim gd --steps 3'
"$MUSTER" train t.svm m.txt $gd -q >/dev/null
"$MUSTER" train t.svm -n 2 $gd --out run -q >/dev/null
sum=$(cat m.txt* | cksum)
for path in m.txt m.txt.card.json m.txt.card.txt; do
    try simulate -n 4 --no-compute --steps 3 --plot $path
    try simulate -n 4 --no-compute --steps 3 --csv $path
    try report run --to $path
    try train t.svm -n 2 $gd --trace $path
    try train t.svm -n 2 $gd --record $path
    try plan generate $path -n 4 --steps 5 --delay exp:1
    try codes frc -n 4 --stragglers 1 --plot $path
done
[ "$sum" = "$(cat m.txt* | cksum)" ] && echo "all as before"
# A card whose model is gone is any file.
cp m.txt.card.json alone.card.json
"$MUSTER" report run --to alone.card.json >/dev/null && echo "written"
"$MUSTER" train t.svm -n 2 $gd --trace m.txt --force -q >/dev/null && head -c 1 m.txt
echo
