# Numbers in disguise where the training table had plain ones: told with what
# helps, as in training.
printf 'size,age,y\n29.18,3,1\n12.5,4,0\n20,5,1\n' >train.csv
"$MUSTER" train train.csv m -q >/dev/null
try() { printf "size;age;y\n$1;3;$2\n" >"$3.csv"; "$MUSTER" predict $3.csv m 2>&1 >/dev/null; }
try 29,18 1 comma
try '$29.18' 1 money
try '12 %%' 1 percent
try 2026-01-02 1 date
try heavy 1 word
try 29.18 1,5 label
"$MUSTER" train train.csv -q --test comma.csv 2>&1
"$MUSTER" train comma.csv -q 2>&1
