# A flag without its value, or with an empty one, is named as it was typed.
for flag in -n -c -s -v -e -B -p --steps --n --optimizer --LABEL --threads= \
    -n= --l2= --model= --sync= --workers= --out= --label= --code= -c= -w1; do
    "$MUSTER" train gen:gmm:20,3 $flag 2>&1
    echo "exit $?"
done
"$MUSTER" train gen:gmm:20,3 --threads '' 2>&1
"$MUSTER" train '' 2>&1
"$MUSTER" train gen:gmm:20,3 '' 2>&1
"$MUSTER" predict '' 2>&1
"$MUSTER" join '' 2>&1
