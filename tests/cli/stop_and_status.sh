# A run is asked how it is, told to stop, and exits with 75: state saved; with
# --max-time, too, as long as the time is not over.
"$MUSTER" train gen:gmm:2000,20 --optim agd --steps 100000 -n 3 --delay exp:0.01 \
    --max-time 600 --out run -q --format json >result.json &
for _ in $(seq 200); do
    "$MUSTER" status run --format json >status.json 2>/dev/null
    grep -q '"active"' status.json && break
    sleep 0.02
done
python3 -c '
import json
status = json.load(open("status.json"))
print(status["steps"], sorted(status["workers"][0]))'
"$MUSTER" stop run | sed 's/[0-9][0-9]*/N/'
wait $!
echo "status $?"
python3 -c '
import json
print(json.load(open("result.json"))["finished"])'
