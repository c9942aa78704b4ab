exec 2>&1
# What is wrong with a search on workers is told before there is a folder, a
# worker or a hash of the rows.
python3 - <<'END'
with open("few.csv", "w") as out:
    out.write("a,b,y\n" + "".join(f"{i},{i * 7 % 5},{i % 2}\n" for i in range(9)))
END
try() { "$MUSTER" train "$@" -n 2; echo "exit $?"; ls -d muster-runs run 2>/dev/null; }
try few.csv -v 20 --out run
try few.csv --grid "model=linear,logistic"
try few.csv --grid "model=softmax,logistic" -v 2
try few.csv --grid "l2=1,2" -v 20
try few.csv --grid "optim=gd,sgd" --out run
