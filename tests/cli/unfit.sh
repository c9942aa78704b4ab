# What a model cannot be fitted to is refused, not fitted silently.
echo "--- values whose squares are 0"
python3 - <<'EOF'
with open("tiny.csv", "w") as file:
    file.write("a,b,y\n")
    for i in range(40):
        file.write(f"{(i % 7) * 1e-170!r},{(i % 5) * 1e-170!r},{i * 0.5!r}\n")
EOF
"$MUSTER" train tiny.csv m --storage f64 2>&1 | tail -n 1
"$MUSTER" train tiny.csv m --storage f64 -n 2 2>&1 | tail -n 1
"$MUSTER" train tiny.csv m 2>&1 | grep lost
"$MUSTER" train tiny.csv m --storage f64 --scale minmax -q >out
echo "scaled: $?"
echo "--- words are no numbers"
printf 'a,y\n' >words.csv
for i in 1 2 3 4 5 6; do
    printf '%s,"yes, sir"\n%s,no\n' "$i" "-$i"
done >>words.csv
"$MUSTER" train words.csv m --model linear 2>&1
echo "--- names of columns that hold labels"
"$MUSTER" train words.csv m -q >out
"$MUSTER" predict words.csv m p.csv -b -q >out
head -n 1 p.csv
