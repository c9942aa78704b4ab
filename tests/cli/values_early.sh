# What is no value is refused before a file is looked at; numbers are written as
# people write them.
printf '1,2,0\n2,3,1\n2,4,0\n3,1,1\n' >a.csv
for words in "--class-weight foo" "--class-weight 1=x" "--class-weight 1=0" \
    "--shape 3x" "--separator ab" "--listen 127.0.0.1:x" "--lr 0x10" \
    "--l2 -0" "--topology ring -n 1 --peers x" \
    "--code flexent:filters=label+smile" "--code flexent:filters=column:0" \
    "--code flexent:size=0x1p-3" "--code ignore:stop=deadline:0x1p-3" \
    "--delay exp:0x1p-3" "--audit 0x1p-3"; do
    "$MUSTER" train none.csv $words 2>&1
    echo "exit $?"
done
"$MUSTER" report none --price -0 2>&1
"$MUSTER" report none --price 0x10 2>&1
"$MUSTER" train none.csv --code 'flexent:size= 10%' 2>&1
"$MUSTER" codes flexent:filters=smile 2>&1
"$MUSTER" simulate none.csv -n 3 --steps 1 --compare flexent:filters=smile 2>&1
"$MUSTER" codes flexent:shadows=3 -n 4 --stragglers 1 2>&1
"$MUSTER" train a.csv --class-weight 1=2,0=1 --separator , -q | tail -1
"$MUSTER" train --topology ring --owners 1 --data-private a.csv 2>&1 | head -1
"$MUSTER" simulate gen:gmm:400,5 -n 6 --steps 2 -q --compare \
    flexent,flexent:shadows=2:size=50%,flexent:sampler=random:estimate=abandon |
    sed -n 's/^\(flexent.*[^ ]\)  *6  .*approx/\1/p'
