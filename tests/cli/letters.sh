# Letters beyond ASCII are shown as they are; labels with commas or blanks in
# them stand in quotes.
exec 2>&1
for i in 1 2 3 4 5 6; do
	printf 'Köln,%d,"néin, so"\nMünchen,%d,oui\n' $i $((i + 9))
done >rows
(
	printf 'städte_mit_einem_sehr_langen_näämen,größe,ok\n'
	cat rows
) >t.csv
"$MUSTER" train t.csv m --label ok --out r 2>&1 | grep -e 'columns of words' -e classes
"$MUSTER" train t.csv --class-weight nein=2
"$MUSTER" data info t.csv | grep labels
"$MUSTER" model show m | grep -e labels -e largest
"$MUSTER" train t.csv --label größen
printf 'x,y\n1,a\342\200\256b\n2,c\302\205\n' >evil.csv
"$MUSTER" data info evil.csv | grep labels
