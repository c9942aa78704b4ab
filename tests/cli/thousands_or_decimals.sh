# 195.990 is a number, and in a table with decimal commas it may be another one.
exec 2>&1
notes() { "$MUSTER" data info "$@" | grep -e muster: -e labels; }
printf 'size;price\n10;195.990\n12;201.500\n14;950\n' >thousands.csv
notes thousands.csv
notes - --input csv <thousands.csv
# Words beside them, and a line for Excel.
printf 'sep=;\ntown;price;y\nBonn;195.990;0\nKoeln;201.500;1\n' >words.csv
notes words.csv
# No doubt: a number that has other decimals, or that has no point and needs
# one; and where commas stand between fields, points are decimals.
printf 'size;price\n10;195.990\n12;201.5\n14;202.125\n' >decimals.csv
notes decimals.csv
printf 'size;price\n10;195.990\n12;201500\n14;202.125\n' >long.csv
notes long.csv
printf 'size,price\n10,195.990\n12,201.500\n' >commas.csv
notes commas.csv
# Who predicts was told.
"$MUSTER" train thousands.csv m -q 2>/dev/null >/dev/null
"$MUSTER" predict thousands.csv m out | grep thousands
