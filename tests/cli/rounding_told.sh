# Why values are kept in double precision, in words.
awk 'BEGIN { print "id,y"; for (i = 0; i < 40; i++) printf "%.0f,%d\n", 4e15 + i, i }' >ids.csv
awk 'BEGIN { print "when,y"; for (i = 0; i < 40; i++) printf "%.1f,%d\n", 1.7e9 + 90.1 * i, i }' >when.csv
awk 'BEGIN { print "count,y"; for (i = 0; i < 40; i++) printf "%d,%d\n", 1 + 12345677 * i, i }' >counts.csv
for file in ids when counts; do "$MUSTER" data info $file.csv 2>&1 | grep double; done
