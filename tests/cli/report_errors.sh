# What `muster report` says when there is nothing to report.
run() { "$MUSTER" "$@" 2>&1; echo "exit $?"; }
run report
run report no/such/folder
mkdir empty
run report empty
run report empty --format json
run report empty --steps 5
mkdir broken
printf 'not a journal' >broken/journal
echo 4 >broken/format
run report broken
"$MUSTER" train gen:gmm:400,5 -n 2 --steps 3 -q --out a >/dev/null
run report a --to no/such/folder/x.html
# What else would have taken how long is measured, and differs.
run report a | grep -v "^uncoded "
test -s a/report.html && echo written
"$MUSTER" train gen:gmm:400,5 -n 1 -v 2 --steps 3 -q --out search >/dev/null
run report search
# A page that it did not write is somebody's; its own, and an empty one, are not.
for text in mine '' "$(cat a/report.html)"
do
    printf %s "$text" >a/report.html
    run report a | grep -v "^uncoded "
    head -c 4 a/report.html; echo
done
rm a/report.html
ln -s ../kept.html a/report.html
echo mine >kept.html
run report a
cat kept.html
