# `muster status` of a run that nobody is running: finished, or killed.
"$MUSTER" train gen:gmm:2000,10 -n 2 --optim agd --steps 20 --out done -q >/dev/null
"$MUSTER" status done 2>&1
echo "status $?"
"$MUSTER" status done --format json
"$MUSTER" train --resume=done --save m -q >/dev/null
"$MUSTER" status done 2>&1 | cut -d' ' -f9-
"$MUSTER" train gen:gmm:2000,10 -n 2 --optim agd --steps 1000000 --out killed -q \
    >/dev/null 2>&1 &
train=$!
for _ in $(seq 500); do
    "$MUSTER" status killed >/dev/null 2>&1 && break
    sleep 0.02
done
kill -KILL $train
{ wait $train; } 2>/dev/null
# Its children go when they find that it has.
for _ in $(seq 500); do
    "$MUSTER" status killed >/dev/null 2>said || grep -q "nobody is running" said && break
    sleep 0.02
done
"$MUSTER" status killed 2>&1 | sed 's/step [0-9]*/step N/'
"$MUSTER" stop killed >/dev/null 2>&1
echo "stop $?"
