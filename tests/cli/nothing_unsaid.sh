# What would be read, written or meant in vain is refused.
printf 'x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n6,1\n' >a.csv
try() { "$MUSTER" "$@" -q 2>&1; echo "exit $?"; }
try train a.csv -v 3 --test a.csv
try train a.csv --grid l2=1 --test a.csv
try train a.csv m -v 3
try train a.csv --valid 1.5
try train a.csv --valid 0
try train a.csv -C 1
try data a.csv
try model m
try plan m
try token m
try train gen:gmm:20,3 --trace trace.json
ls
