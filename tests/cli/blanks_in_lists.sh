# Blanks around the items of a list of columns are the list's, unless a column's
# name has them; numbers, `auto` and `all` are items, too.
exec 2>&1
printf 'age,zip,town,owner,w,y\n1,5,a,x,1,0\n2,6,b,y,1,1\n3,5,a,x,2,1\n' >t.csv
columns() { "$MUSTER" data info t.csv "$@" | grep -e muster: -e columns; }
columns --drop 'age, owner'
columns --drop ' 1 ,:4 '
columns --categorical 'auto, zip' --weight ' w ' --label ' y '
columns --categorical 'zip , auto'
columns --drop 'age, ovner'
printf '" age",age2,y\n1,5,0\n2,6,1\n' >t.csv
columns --drop ' age'
"$MUSTER" train t.csv --class-weight '0=2, 1=3' -q >/dev/null && echo numbers
printf 'x,y\n1,no\n2,yes\n' >t.csv
"$MUSTER" train t.csv --class-weight 'no=2, yes=3' -q >/dev/null && echo words
