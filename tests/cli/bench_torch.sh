# What bench/ring.py makes of a TORCH that is no program: a sentence, or, of
# none, figures of ours alone.
TORCH=nosuch python3 "$ROOT/bench/ring.py" 1000 2>&1
echo "exit $?"
MUSTER="$MUSTER" TORCH=none FOLDER=. RUNS=1 PEERS=2 ROADS="ring shm" python3 "$ROOT/bench/ring.py" 1000 2>&1 | grep -o "^ *1000 ring shm"
