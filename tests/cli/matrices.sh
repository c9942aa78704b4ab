# Every example matrix: what it promises, and a run with it on a cluster.
folder=$ROOT/examples/matrices
for name in bernoulli expander design graph; do
    "$MUSTER" codes "matrix:$folder/$name.csv" --stragglers 2 --format json \
        >code.json
    workers=$(python3 -c 'import json; print(json.load(open("code.json"))["workers"])')
    "$MUSTER" train gen:gmm:600,6 --chunk-rows 16 --steps 4 -q --format json \
        -n "$workers" --code "matrix:$folder/$name.csv" --stragglers 2 \
        >train.json
    python3 - "$name" <<'END2'
import json, sys
code = json.load(open("code.json"))
run = json.load(open("train.json"))
print(sys.argv[1], code["workers"], code["parts"], code["exactness"],
      code["certificate"]["patterns"], f"{code['expected_error']:.3f}",
      run["steps"], run["exactness"]["bitwise"])
END2
done
"$ROOT/tools/make_matrix.py" design 2 | cmp - "$folder/design.csv" && echo same
