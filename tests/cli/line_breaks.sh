# A field in quotes may go on over lines, as pandas writes it; lines are still
# counted right, and a quote that nobody closes is told of.
exec 2>&1
header='text;size;kind'
for i in 1 2 3 4 5 6; do
	printf '"first %d;\n\n""second""";%d;"a\nb"\n' $i $i
	printf 'plain;%d;c\r\n' $((i + 9))
done >rows
(echo "$header" && cat rows) >t.csv
"$MUSTER" data info t.csv | grep -v digest
"$MUSTER" data info t.csv --drop text | grep -v digest
"$MUSTER" train t.csv m --drop text -q >/dev/null && "$MUSTER" predict t.csv m -q | tail -3
(echo "$header" && cat rows && echo 'x;y;c') >wrong.csv
"$MUSTER" data info wrong.csv
(echo "$header" && cat rows && printf '"x;y;c\n1;2;c\n') >open.csv
"$MUSTER" data info open.csv
printf '"a;\nb";c\n1;0\n2;1\n' >names.csv
"$MUSTER" data info names.csv | grep rows
"$MUSTER" data info - --input csv <t.csv | grep rows
