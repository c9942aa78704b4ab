# A model that converged, and whose penalty holds down columns of small spread,
# says so; not if columns are scaled, the penalty is small, or all spreads are
# alike.
awk 'BEGIN { print "a,b,c,y"; for (i = 0; i < 300; i++) {
    a = i * 37 % 101 / 101; b = i * 53 % 97 / 97; c = i * 29 % 89 / 89
    printf "%.6g,%.6g,%.6g,%.6g\n", a * 1e-4, b, c * 1e4, 3 * a + 2 * b + c } }' >spreads.csv
said() { echo "$*"; "$MUSTER" train spreads.csv "$@" -q | grep -e '^ ' -e '^ended' -e '^train' | sed 's/|gradient.*//; s/mse.*r2/r2/'; }
said
said --scale standard
said --l2 1e-12
said --drop a --l2 1e-5
