# Who goes on with other data, or other options, is told what differs.
rows() { seq "$1" | awk '{ OFS = ";"; print $1 % 7, $1 % 5, $1 % '"$2"' }'; }
table() { echo 'a;b;y'; cat; }
rows 400 2 | table >t.csv
"$MUSTER" train t.csv -n 2 --optim gd --steps 3 --out run -q >/dev/null
go_on() { "$MUSTER" train "$@" --resume=run -q 2>&1 >/dev/null | sed 's/\(digest \|and \)[0-9a-f]\{16\}/\1HEX/g'; }
rows 400 3 | awk -F';' '{ OFS = ";"; $3 = $3 > 0; print }' | table >t.csv
go_on
rows 300 2 | table >t.csv
go_on
rows 400 2 | awk -F';' '{ OFS = ";"; print $1, $3 }' | (echo 'a;y'; cat) >t.csv
go_on
rows 400 2 | table >t.csv
go_on t.csv -n 2 --optim gd --steps 3 --l2 0.5
# A network's rates fall to the last step, wherever that is.
"$MUSTER" train t.csv -n 2 --net dense2 --passes 2 --batch 100 --out net -q >/dev/null
"$MUSTER" train --resume=net --passes 4 -q 2>&1 >/dev/null
"$MUSTER" train --resume=net -q 2>&1 >/dev/null
# A folder from before: what is known is said.
rm run/facts
go_on t.csv -n 2 --optim gd --steps 3 --l2 0.5
# What is not ours is not shown.
printf 'rows 1\033[31m\n' >run/facts
go_on t.csv -n 2 --optim gd --steps 3 --l2 0.5
# A name of no file after --resume was meant for the model.
go_on new.model
