# Numbers with points between thousands and a comma before decimals: what makes
# plain numbers of all of the column, not of the field that was met first.
exec 2>&1
info() { "$MUSTER" data info "$@" | grep -e muster: -e labels; }
printf 'size;price\n10;919,80\n12;1.042,00\n' >german.csv
info german.csv
tr , . <german.csv >points.csv # What is advised where no thousands are marked.
info points.csv
tr -d . <german.csv | tr , . >plain.csv
info plain.csv
# No command that would spoil other columns: their points, a csv's own commas.
printf 'size;price\n1.5;919,80\n1.7;1.042,00\n' >mixed.csv
info mixed.csv
printf 'size,price\n10,"919,80"\n12,"1.042,00"\n' >commas.csv
info commas.csv
# Money is no category.
printf 'price,size,y\n"$333,100",137,0\n"$160,100",70,1\n' >money.csv
info money.csv
# Nor is an address a number.
printf 'host,y\n192.168.178.20,0\n192.168.178.21,1\n' >hosts.csv
info hosts.csv
