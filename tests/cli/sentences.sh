# What is said is said once, wholly, and of what there is.
exec 2>&1
mkdir folder.npz run
"$MUSTER" train no.npz
"$MUSTER" train folder.npz
printf 'a\tb\ty\n1\t2\t0\n2\t1\t1\n' >t.csv
"$MUSTER" train t.csv --separator "$(printf '\tx')"
"$MUSTER" train t.csv --separator ''
"$MUSTER" data info t.csv --separator "$(printf '\t')" | grep columns
echo "--- notes"
python3 - <<'END'
names = [f"a column with a name that is long {i}" for i in range(8)]
print(",".join(names + ["y"]), file=(out := open("words.csv", "w")))
for i in range(6):
    print(",".join("ab"[i >> j & 1] for j in range(8)), i % 2, sep=",", file=out)
out.close()
END
"$MUSTER" data info words.csv 2>&1 >/dev/null
echo "--- a run's folder"
chmod 700 run
touch run/journal
for text in -1 +2 ' 2' 2x; do
    echo "$text" >run/format
    "$MUSTER" train --resume=run
done
