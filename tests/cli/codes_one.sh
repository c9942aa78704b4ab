# One code: its matrix, certificate and errors, in text, JSON and as a picture.
"$MUSTER" codes mds -n 5 --stragglers 2 --silent 0,1
"$MUSTER" codes stream -n 5
"$MUSTER" codes agc:collect=5 --silent 0,1,2
"$MUSTER" codes uncoded -n 3 --plot matrix.svg --silent 1 --format json
grep -c '<rect x=' matrix.svg
printf '1,1,0,0\n1,1,0,0\n0,0,1,1\n0,0,1,1\n' >frc.csv
"$MUSTER" codes matrix:frc.csv --format json | python3 -c '
import json, sys
code = json.load(sys.stdin)
print(code["exactness"], code["certificate"]["patterns"],
      code["certificate"]["worst_residual"] < 1e-12, code["matrix"][2])'
# With as many workers as there are blocks, if nobody says: figure 1 of the paper.
"$MUSTER" codes cec:l=3:p=6
# Parts and samples of them: what samples are good for, only rows can tell.
"$MUSTER" codes flexent:shadows=2 -n 6 --silent 1
"$MUSTER" codes flexent:shadows=2:estimate=abandon -n 6 --silent 1 | grep ' error \| off '
"$MUSTER" codes flexent -n 5 --format json | python3 -c '
import json, sys
print(json.load(sys.stdin)["expected_error"])'
