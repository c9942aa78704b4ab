# Two machines join over loopback with keys of their own; one leaves in the
# middle; the model is that of one machine.
"$MUSTER" token new cluster.token -q >/dev/null
"$MUSTER" token new a.token --name a --from cluster.token >/dev/null
"$MUSTER" token new b.token --name b --from cluster.token >/dev/null
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 200 --format json >one.json
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 200 --workers 2 --delay exp:0.005 \
    --listen 127.0.0.1:0 --token-file cluster.token --out run -q \
    --format json >two.json &
train=$!
for _ in $(seq 200); do
    [ -s run/address ] && break
    sleep 0.02
done
"$MUSTER" join "$(head -n 1 run/address)" --token-file a.token -q &
a=$!
"$MUSTER" join "$(head -n 1 run/address)" --token-file b.token -q &
b=$!
for _ in $(seq 200); do
    step=$("$MUSTER" status run --token-file cluster.token --format json \
        2>/dev/null | sed -n 's/.*"step": \([0-9]*\).*/\1/p')
    [ "${step:-0}" -ge 20 ] && break
    sleep 0.02
done
kill -TERM $a
wait $a
echo "left: status $?"
wait $b
echo "stayed: status $?"
wait $train
echo "coordinator: status $?"
python3 - <<'END'
import json
one, two = (json.load(open(name)) for name in ("one.json", "two.json"))
print("same hash", one["hash"] == two["hash"])
print(two["workers"])
END
