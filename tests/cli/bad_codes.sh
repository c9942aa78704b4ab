# Shapes and files that make no code: one sentence each.
say() { "$MUSTER" "$@" 2>&1; echo "exit $?"; }
say codes frc -n 8 --stragglers 2
say codes rep -n 4 --stragglers 4
say codes agc -n 4
say codes agc:collect=5 -n 4
say codes agc:collect=0 -n 4
say codes agc:stop=groups:5 -n 8
say codes rep:stop=soon
say codes cyclic:stop=first:3 -n 8
say codes cb:speeds=1,2 -n 4
say codes cb:speeds=1,2,x,4 -n 4
say codes partial-cyclic:parts=2
say codes agc:collect=4:estimate=unbiased -n 8 --stragglers 2
say codes frc:pieces=3
say codes frc:files/mine.csv
say codes local
say codes local:h=0
say codes matrix:none.csv:decode=maybe
say codes rep --silent 9
say codes rep:frc.csv
say codes matrix
say codes matrix:missing.csv
printf '1,2\n3\n' >ragged.csv
say codes matrix:ragged.csv
printf '1,nan\n1,1\n' >nan.csv
say codes matrix:nan.csv
printf '1,1,0\n1,1,0\n0,1,2\n' >rank.csv
say codes matrix:rank.csv
printf '1,1,0\n0,1,1\n' >two.csv
say codes matrix:two.csv -n 3
say codes cb:two.csv --stragglers 1
say codes frc:s=1:x=2 -n 4
say codes frc:s=1,stop=all -n 4
say train gen:gmm:500,4 -n 40 --code cb --stragglers 8 --exact numeric
