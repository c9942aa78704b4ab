# Zip codes and ids that are numbers are taken for quantities, and said to be.
seq 40 | awk 'BEGIN { print "id,zip,age,paid,homeZip,customerID,y" }
    { print 1000 + $1 ",0" 2130 + $1 % 3 "," $1 % 7 "," $1 % 2 ",1,2," ($1 % 3 ? "a" : "b") }' >t.csv
notes() { "$MUSTER" train t.csv "$@" 2>&1 >/dev/null | grep -v "^muster: 40 rows\|^muster: model"; }
notes
echo "left out, or categories:"
notes --drop id,customerID --categorical auto,zip,homeZip
echo "words beside:"
sed 's/,\([0-9]*\),1,2,/,\1,w,2,/' t.csv >w.csv
"$MUSTER" train w.csv m 2>said >/dev/null
grep column said
"$MUSTER" predict w.csv m out.txt 2>&1 >/dev/null
