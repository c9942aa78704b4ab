# All that is wrong with the words of a command is told at once, and nothing
# that only follows from it.
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n' >t.csv
try() { "$MUSTER" "$@" 2>&1; echo "exit $?"; }
try train t.csv --l2 -1 --epoch-count 3 --model Ridge -n many
try train --colour red t.csv m --metric acc
try train t.csv m --colour=red more words --steps 0
try train t.csv --steps
MUSTER_STEPS=few try train t.csv --lr fast
try train t.csv --l2 -1 --lr x --format json
try train t.csv --l2 -1 --l2 -2 --l2 -3 --l2 -4 --l2 -5 --l2 -6 --l2 -7 --l2 -8 --l2 -9 | tail -2
