# What stands in the way of a table is named, with a remedy that works.
exec 2>&1
info() { "$MUSTER" data info "$@" | grep -v -e digest -e storage -e density; }
npy() {
	text="{'descr': '$1', 'fortran_order': False, 'shape': ($2), }"
	printf '\223NUMPY\001\000'"\\$(printf %o ${#text})"'\000%s' "$text"
}
printf 'a,y\n1,$5\n2,$7\n3,$5\n' >money.csv
info money.csv
info money.csv --categorical auto,y
printf 'a,y,signup\n1,0,2019-11-02\n2,1,2020-01-03\n' >date.csv
info date.csv
info date.csv --label y --drop signup
(npy '|u1' 2,2 && printf '\1\2\3\4') >x.npy
(npy '<U1' 2, && printf 'a\0\0\0b\0\0\0') >words.npy
npy '|O' 2, >objects.npy
printf '0\n1\n' >y.csv
for labels in words.npy objects.npy y.csv; do info x.npy --labels $labels; done
printf 'a b y\n1 2 0\n3 4 1\n' >blanks.csv
info blanks.csv
info blanks.csv --separator ' '
printf '# made by hand\na,b,y\n1,2,0\n' >comment.csv
info comment.csv
printf '# made, by hand\na,b,y\n1,2,0\n' >comment.csv
info comment.csv
printf 'sep=;\na;b;y\n1,0;2;0\n' >excel.csv
info excel.csv
tr , . <excel.csv >points.csv
info points.csv
printf 'a,y\n"1,5",0\n2,1\n' >commas.csv
info commas.csv
printf 'sep=;\n1;2;0\n2;3;1\n' >excel.csv
info excel.csv
printf 'a,y\n1e39,0\n2,1\n' >large.csv
info large.csv
info large.csv --storage f64
printf 'a,y\n1e999,0\n2,1\n' >huge.csv
info huge.csv --storage f64
printf 'a,y\n-nan,0\nNAN,1\n2,1\n' >nan.csv
info nan.csv
info nan.csv --missing mean
printf 'a,y\ninf,0\n2,1\n' >inf.csv
info inf.csv
printf '"a,b",c,d,e,f,y\n1,2,3,4,5,0\n1,2,3,4,5,1\n' >comma.csv
info comma.csv --drop a,b
info comma.csv --drop :1
info comma.csv --drop zebra
printf 'd,y\n0 days 00:01:00,0\n-1 days +23:59:00,1\n' >delta.csv
info delta.csv
printf '\377\376a\0,\0y\0\n\0001\0,\0000\0\n\0' >wide.csv
info wide.csv
printf 'a,b,y\r1,2,0\r2,3,1\r' >mac.csv
info mac.csv
tr '\r' '\n' <mac.csv >lines.csv
info lines.csv
printf 'c,y\nK\303\266ln,0\nBonn,1\n' >utf8.csv
printf 'c,y\nK\366ln,0\nBonn,1\n' >latin.csv
"$MUSTER" train utf8.csv m -q >/dev/null
"$MUSTER" predict latin.csv m out | head -1
echo "--- flags by the name that was typed"
for flag in "--epochs 0" "--passes 0" "--batch_size none" "--optimiser best" "-s x" "--learning-rate="; do
    "$MUSTER" train gen:gmm:20,2 $flag 2>&1
done
