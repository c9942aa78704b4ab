# Files whose names no JSON can hold: the rest of what is said is said.
odd=$(printf 'o\377')
mkdir "$odd"
"$MUSTER" token new "$odd/token" --format json
"$MUSTER" train gen:gmm:40,2 --steps 1 --save "$odd/m.txt" -q --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["model"])'
"$MUSTER" model convert "$odd/m.txt" "$odd/m.safetensors" --format json
"$MUSTER" plan generate "$odd/t.csv" --delay exp:1 --steps 2 -n 2 --format json
"$MUSTER" predict gen:gmm:40,2 "$odd/m.txt" "$odd/p.csv" -q --format json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["predictions"])'
