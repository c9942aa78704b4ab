# Before any work: no folder, a folder instead of a file, a file of the system.
printf '1 1:1\n-1 1:2\n' >a.svm
mkdir folder
for name in nowhere/model.txt folder /proc/version; do
    "$MUSTER" train a.svm "$name" -q; echo "exit $?"
done
"$MUSTER" train a.svm model.txt -q >/dev/null
"$MUSTER" predict a.svm model.txt folder; echo "exit $?"
"$MUSTER" simulate -n 4 --no-compute --steps 3 --plot folder; echo "exit $?"
ls -A
# The folder goes while the rows are read: more of them than a pipe holds.
rows() { seq 20000 | awk '{ print $1 % 2, "1:" $1 }'; }
{ rows; rmdir folder; } | "$MUSTER" train - folder/model.txt -n 2 --out run 2>&1 >shown | tail -1
cut -d' ' -f1 shown
rows | "$MUSTER" train --resume=run --save model2.txt | grep saved
