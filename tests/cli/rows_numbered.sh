# Columns that may number the rows by their names are pointed out if they do:
# another whole number in each row.
exec 2>&1
table() { # NAME EXPRESSION: 30 rows, of the row's number i
	awk "BEGIN {print \"$1,x,y\"; for (i = 1; i <= 30; i++) print $2 \",\" i * i % 7 \",\" i % 2}"
}
notes() { "$MUSTER" data info t.csv "$@" | grep muster:; }
for name in index row order_no phoneNumber account invoiceNo Nr; do
	table "$name" '(i * 7 % 31)' >t.csv
	notes
done
# Once an id has been told as such, once is enough.
table id '(i)' >t.csv
notes
# A number that comes again, parts, a gap, few rows, another name, a category.
table index 'int(i / 2)' >t.csv
notes
table index 'i / 4' >t.csv
notes
table index '(i == 5 ? "" : i)' >t.csv
notes --missing mean
table index '(i)' | head -15 >t.csv
notes
table piano '(i)' >t.csv
notes
table index '(i)' >t.csv
notes --categorical index
