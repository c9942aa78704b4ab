# What a model made of a table: columns of numbers and of words, what is filled
# in, pairs; and no classes where labels are numbers.
show() { "$MUSTER" model show m | grep -e ^table -e ^data | sed 's/hash [0-9a-f]*/hash/'; }
printf 'a,b,c,town,plan,y\n1,2,3,x,p,2.5\n2,,5,y,q,3.5\n3,1,4,z,p,9.5\n' >t.csv
"$MUSTER" train t.csv m --missing mean --pairs -q >/dev/null
show
printf 'a,y\n1,no\n2,yes\n' >t.csv
"$MUSTER" train t.csv m --force -q >/dev/null
show
