# One sentence each, with the file and the line.
exec 2>&1
printf '1,2\n3\n' >ragged
printf '1,2\n3,-4\n' >negative
printf '# work 1\n1,nan\n' >nan
: >empty
for file in ragged negative nan empty missing; do
    "$MUSTER" plan choose $file
    echo "exit $?"
    "$MUSTER" simulate --no-compute -n 4 --delay trace:$file
    echo "exit $?"
done
printf '1,2\n' >short
"$MUSTER" plan fit short
"$MUSTER" plan fit
"$MUSTER" plan
"$MUSTER" plan choose short --delay exp:1
"$MUSTER" plan generate
"$MUSTER" plan -n 4 --delay exp:1 --code frc --stragglers 4
"$MUSTER" plan -n 4 --delay exp:1/slow
exit 0
