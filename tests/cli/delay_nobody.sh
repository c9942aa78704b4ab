# A delay, or a lie, for somebody who never comes is said so at the end: until
# then a worker of that name may join.  In virtual time nobody does: refused.
train() { "$MUSTER" train gen:gmm:200,4 --optim agd -n 2 --code steal "$@" 2>&1 >out.txt; }
train --steps 6 --delay worker:w9=2+worker:w1=1.01 --chaos lie:w8@2 --verify |
    grep 'of that name'
train --steps 6 --delay worker:w1=1.01 | grep -c 'of that name'
"$MUSTER" simulate -n 4 --no-compute --steps 5 --delay worker:w4=3 2>&1
echo "exit $?"
"$MUSTER" simulate -n 4 --no-compute --steps 5 --delay worker:w3=3 >out.txt 2>&1
echo "exit $?"
"$MUSTER" plan -n 4 --delay worker:slow=3 2>&1
echo "exit $?"
