# Columns without a value in any row: the one that a comma behind every line
# makes, as spreadsheets write it, and those that somebody forgot to fill in.
rows() { awk -v line="$1" 'BEGIN { for (i = 1; i <= 40; i++) { s = line; gsub("A", i, s); gsub("B", i * 7 % 11, s); gsub("Y", i % 2, s); print s } }'; }
said() { "$MUSTER" train "$@" 2>&1 | grep -v '^steps\|least mean\|^train\|^obj\|^ended'; }
{ echo a,b,y; rows A,B,Y; } >plain.csv
{ echo a,b,y,; rows A,B,Y,; } >comma.csv
{ echo a,b,y,,; rows A,B,Y,,; } >commas.csv
rows A,B,Y, >bare.csv
{ echo a,e,b,y; rows A,,B,Y; } >inside.csv
{ echo a,e,b,y; rows A,null,B,Y; } >marked.csv
{ echo a,b,y; rows A,B,; } >unlabelled.csv
{ echo a,b,kind,y,; rows 'A,B,"k B",Y,'; } >words.csv
echo "--- the same model as without it"
for file in plain comma commas bare inside marked; do said $file.csv $file.model; done
said inside.csv --missing mean
said inside.csv --missing indicator
said words.csv
echo "--- but not where it is asked for, or may be the labels"
said inside.csv --label e
said unlabelled.csv
echo "--- predictions, by name and by place"
for file in plain comma inside; do "$MUSTER" predict $file.csv comma.model 2>/dev/null | cksum; done
for file in bare; do "$MUSTER" predict $file.csv bare.model 2>/dev/null | cksum; done
echo "--- of numbers that are no text it is 0 throughout"
python3 - <<'END'
import struct
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (40, 3), }"
head += " " * (117 - len(head)) + "\n"
rows = [v for i in range(40) for v in (i, float("nan"), i % 2)]
with open("n.npy", "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<120d", *rows))
END
said n.npy --missing mean
