# What is tried on a first day is answered with what to write.
printf 'x,z,y\n1,2,a\n2,1,b\n3,5,a\n4,4,b\n' >t.csv
printf '<!DOCTYPE html>\n<html>not found</html>\n' >page.data
printf '@relation t\n@attribute x numeric\n@data\n1\n' >t.arff
python3 -c 'import zipfile; zipfile.ZipFile("t.xlsx", "w").writestr("[Content_Types].xml", "<x/>")'
try() { "$MUSTER" "$@" 2>&1; echo "exit $?"; }
for command in fit evaluate show convert t.csv; do
    try $command t.csv
done
for data in page.data t.arff t.xlsx https://example.org/t.csv; do
    try train $data
done
for part in 20% 20 200; do
    try train none.csv --valid $part
done
try train t.csv -m logistic
try train t.csv --label x --model linear --metric accuracy | tail -2
# A page of the web that is called a table, or holds one.
printf '<table>\n<tr><td>1</td><td>2</td></tr>\n</table>\n' >table.data
cp page.data page.csv
printf '\357\273\277\n  <HTML><TABLE>\n' >marked.data
try train table.data
for page in table.data page.data page.csv marked.data t.xlsx; do
    try train $page --input csv
done
try train page.csv
