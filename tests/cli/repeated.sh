# Flags that take lists add up, in any spelling; of others the last one holds.
# A stronger origin still wins over a weaker one as a whole.
exec 2>&1
config() { "$MUSTER" train t.csv "$@" --print-config | grep -E '^(drop|categorical|l2) '; }
printf 'a,b,c,d,y\n1,2,3,x,0\n2,3,4,y,1\n2,5,4,x,1\n' >t.csv
config --drop a --drop=b,c --l2 1 --l2 2
config --categorical auto --categorical a
config --categorical none --categorical a
printf 'drop a\ndrop b\n' >flags
config --config flags
config --config flags --drop c
MUSTER_DROP=a config --drop c
"$MUSTER" data info t.csv --drop a --drop b,c | grep columns
"$MUSTER" data info t.csv --drop a --drop b --drop zebra
"$MUSTER" data info t.csv --categorical none --categorical a
"$MUSTER" data info t.csv --drop a --drop ''
lists() { "$MUSTER" train t.csv "$@" --print-config | grep -E '^(chaos|delay|grid) .*flag'; }
lists -n 4 --chaos kill:w1@3 --chaos kill:w2@4 --delay exp:1 --delay dead:.1
lists --grid c=1,2 --grid lr=.1,.2
