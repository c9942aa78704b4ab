# Tables to be judged fit the training table by name, or by place without
# names; a label need not be there; what does not fit is refused.
awk 'BEGIN { srand(1); print "y,a,b,c"; for (i = 0; i < 60; i++) {
    a = i % 7; b = i % 5; c = i % 3
    printf "%d,%d,%d,%d\n", (2 * a - 3 * b + c > 1), a, b, c } }' >first.csv
awk -F, -v OFS=, '{ print $4, $1, "x" NR, $3, $2 }' first.csv |
    sed '1s/x1/id/' >swapped.csv
awk -F, -v OFS=, '{ print $2, $3, $4 }' first.csv >rows.csv
sed 1d rows.csv >bare.csv
sed 1d first.csv >bare_first.csv
"$MUSTER" train first.csv m --label y -q --steps 30 >/dev/null
for file in first swapped rows bare bare_first; do
    echo "--- $file"
    "$MUSTER" predict $file.csv m $file.out 2>&1 | sed 's/metrics .*/metrics/'
    cmp first.out $file.out
done
echo "--- labels that are not to be believed"
"$MUSTER" predict first.csv m out --label none
echo "--- the label by another name: why there are no metrics, and how"
sed '1s/y/target/' first.csv >renamed.csv
"$MUSTER" predict renamed.csv m out --force 2>&1
"$MUSTER" predict renamed.csv m out --force --label target 2>&1 | sed 's/metrics .*/metrics/'
"$MUSTER" predict renamed.csv m out --force --label none 2>&1
echo "--- what does not fit"
cut -d, -f1,2,4 first.csv >narrow.csv
"$MUSTER" predict narrow.csv m 2>&1
cut -d, -f1,2 bare.csv >narrower.csv
"$MUSTER" predict narrower.csv m 2>&1
"$MUSTER" predict first.csv m --label z 2>&1
"$MUSTER" train first.csv n --label y --test rows.csv 2>&1
echo "--- by name elsewhere too"
"$MUSTER" model convert m m.csv && cut -d, -f1 m.csv
"$MUSTER" model show m | grep -e table -e largest | sed 's/: -*[0-9.]*/:/g'
echo "--- words, gaps, booleans, an index, years"
cat >people.csv <<'DONE'
,age,sex,member,2020,survived
0,22,male,True,7.25,no
1,,female,False,71.5,yes
2,35,female,True,NA,yes
3,28,male,False,8.05,no
DONE
"$MUSTER" train people.csv p --drop 1 --missing indicator --steps 20 2>&1 |
    grep people
"$MUSTER" train people.csv p --steps 20 2>&1
"$MUSTER" model convert p p.csv && cut -d, -f1 p.csv | tr '\n' ' '
printf 'sex,age,member,2020\nfemale,NA,true,60\nmale,30,false,?\n' >more.csv
"$MUSTER" predict more.csv p
printf '2020,2021,2022\n1,2,1\n2,1,0\n3,1,1\n' >years.csv
"$MUSTER" train years.csv q --steps 5 2>&1 | grep -e header
"$MUSTER" data info years.csv --header no | grep rows
