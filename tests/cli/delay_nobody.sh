# A delay, or a lie, for somebody who never comes is said so at the end: until
# then a worker of that name may join.  In virtual time nobody does: refused.
train() { "$MUSTER" train gen:gmm:200,4 --optim agd -n 2 --code steal "$@" 2>&1 >out.txt; }
train --steps 6 --delay worker:w9=2+worker:w1=1.01 --chaos lie:w8@2 --verify |
    grep 'of that name'
train --steps 6 --delay worker:w1=1.01 | grep -c 'of that name'
# The last training of a search tells for all of them; w3 was in one.
train -v 3 --delay worker:w9=2+worker:w1=1.01 | grep 'of that name'
train --grid l2=.1,.2 --chaos lie:w8@2 --verify | grep 'of that name'
train model --grid l2=.1,.2 --delay worker:w9=2 | grep 'of that name'
"$MUSTER" train gen:gmm:200,4 model --grid n=2,4 --delay worker:w3=1.01 2>&1 | grep 'of that name\|joined'
"$MUSTER" simulate -n 4 --no-compute --steps 5 --delay worker:w4=3 2>&1
echo "exit $?"
"$MUSTER" simulate -n 4 --no-compute --steps 5 --delay worker:w3=3 >out.txt 2>&1
echo "exit $?"
"$MUSTER" plan -n 4 --delay worker:slow=3 2>&1
echo "exit $?"
