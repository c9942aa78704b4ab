exec 2>&1
# Said before anything is begun: no such provider, an address nobody asks.
"$MUSTER" join 127.0.0.1:1 --preempt-notice ec2
echo "exit $?"
"$MUSTER" train gen:gmm:200,4 -n 1 --preempt-notice file:
echo "exit $?"
"$MUSTER" train gen:gmm:200,4 -n 1 --preempt-notice file:x --preempt-address http://127.0.0.1:1
echo "exit $?"
"$MUSTER" join 127.0.0.1:1 --preempt-notice aws --preempt-address 127.0.0.1:1
echo "exit $?"
"$MUSTER" join 127.0.0.1:1 --preempt-address http://127.0.0.1:1
echo "exit $?"
ls
