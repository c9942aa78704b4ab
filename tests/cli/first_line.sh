# A first line that looks like a row is told of, or is taken for one.
exec 2>&1
rows() {
	for i in 1 2 3 4 5; do
		printf 'red,%s,no\nblue,%s,yes\n' "$1" "$1"
	done
}
(echo red,,yes && rows 1) >row.csv
"$MUSTER" data info row.csv
"$MUSTER" train row.csv --missing mean 2>&1 | grep "12* rows"
(echo red,size,buy && rows 1) >half.csv
"$MUSTER" data info half.csv | grep -e taken -e rows
"$MUSTER" data info half.csv --header yes | grep -e taken -e rows
"$MUSTER" data info half.csv --header no | grep -e taken -e rows
(echo colour,,buy && rows x) >empty.csv
"$MUSTER" data info empty.csv | grep -e taken -e rows
printf 'a,,b\n1,2,1\n2,3,0\n' >numbers.csv
"$MUSTER" data info numbers.csv | grep -e taken -e rows
printf ',a,b\n1,2,1\n2,3,0\n' >index.csv
"$MUSTER" data info index.csv | grep -e taken -e rows
printf '0,1,2\nx,2,1\ny,3,0\n' >run.csv
"$MUSTER" data info run.csv | grep -e taken -e rows
