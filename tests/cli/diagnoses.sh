# What is wrong with a file or a choice is said as it is, with a way out.
tell() { echo "\$ muster $*"; "$MUSTER" "$@" -q 2>&1 | head -n 1; }
python3 - <<'END'
import bz2, json, pickle, zipfile
table = "a,y\n1,2\n"
open("packed.csv.bz2", "wb").write(bz2.compress(table.encode()))
json.dump([{"a": 1, "y": 2}], open("rows.json", "w"))
pickle.dump([1, 2, 3], open("rows.pkl", "wb"), protocol=4)
with zipfile.ZipFile("rows.csv.zip", "w") as archive:
    archive.writestr("rows.csv", table)
END
for file in packed.csv.bz2 rows.json rows.pkl rows.csv.zip; do
    tell train $file
done
printf 'a,b,y\n' >head.csv
tell train head.csv
printf 'a b,c;d,y\n1 2,3;4,1\n' >odd.csv
tell train odd.csv
printf 'a;b;y\n1;2;0\n2;2;1\n' >semi.csv
tell train semi.csv --separator ,
printf ',age,y\n0,5,1\n1,7,0\nq,8,1\n' >index.csv
tell train index.csv --drop 0
tell train index.csv --drop 'Unnamed: 0'
tell train index.csv
printf 'h,city,y\n1,A,1\nunknown,B,0\n2,A,1\n' >city.csv
tell train city.csv
"$MUSTER" train city.csv --categorical auto,h -q | sed -n '/ended/s/:.*//p'
printf 'a,y\n1,.5\n2,.7\n3,.9\n4,1.5\n' >reals.csv
tell train reals.csv --model logistic
tell train reals.csv -C 1
tell train --version
printf 'a,smoker,y\n1,0,0\n2,1,1\n3,1,1\n4,0,0\n' >plain.csv
"$MUSTER" train plain.csv model -q >/dev/null
tell predict plain.csv model --label smoker
"$MUSTER" join 127.0.0.1
echo "status $?"
