# A worker that joins says what it works on and what it has done; -q: nothing.
"$MUSTER" token new t -q >/dev/null
run_one() {
    "$MUSTER" train gen:gmm:2000,20 --optim agd --steps 30 --chunk-rows 100 \
        --workers 1 --listen 127.0.0.1:0 --token-file t --out "$1" -q >/dev/null &
    train=$!
    for _ in $(seq 500); do
        [ -s "$1/address" ] && break
        sleep 0.02
    done
    address=$(head -n 1 "$1/address")
    shift
    "$MUSTER" join "$address" --token-file t --name w "$@" 2>&1 |
        sed 's/127.0.0.1:[0-9]*/ADDRESS/; s/[0-9.]* s\b/TIME s/; s/_s": [0-9.]*/_s": TIME/'
    wait $train
}
run_one a
run_one b -q
run_one c -q --format json
