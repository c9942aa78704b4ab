# Predictions have the form that their name promises, or are refused.
printf 'solver_type L2R_LR\nnr_class 2\nlabel 7 -1.5\nnr_feature 1\nbias -1\nw\n1\n' >m
printf '7 1:2\n-1.5 1:-1\n7 1:-3\n' >rows.svm
predict() { "$MUSTER" predict rows.svm "$@" -q 2>&1; echo "exit $?"; }
shown() { head -c 128 "$1" | tail -c 118 | sed 's/ *$//'; tail -c +129 "$1" | od -An -t f8 -w8 -v | awk '{ printf "%.4g\n", $1 }'; }
predict m label.npy && shown label.npy
predict m both.npy --probability && shown both.npy
predict m top.NPY --top 2 && shown top.NPY
"$MUSTER" train rows.svm -q --model linear line >/dev/null
predict line value.npy | tail -1; shown value.npy
echo "--- not in an array"
predict m style.npy --style csv
printf 'x,y\n1,no\n2,yes\n' >words.csv
"$MUSTER" train words.csv -q words >/dev/null
"$MUSTER" predict words.csv words words.npy 2>&1; echo "exit $?"
echo "--- nor under the name of something else"
for name in out.json out.npz out.safetensors out.svm out.csv.gz; do predict m $name; done
ls | grep -v card
