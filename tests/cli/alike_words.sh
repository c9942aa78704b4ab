# Words that differ in case or blanks only stay two, but not without a word.
exec 2>&1
notes() { "$MUSTER" train "$@" m 2>&1 >/dev/null | grep -e alike -e labels; }
printf 'x,y\n1,No\n2,no\n3,Yes\n4,yes\n5,maybe\n' >case.csv
notes case.csv
printf 'town,x,y\n"Berlin ",1,0\nBerlin,2,1\nBonn,3,1\n' >blanks.csv
notes blanks.csv
printf 'town,x,y\nBERLIN,1,0\nBonn,2,1\nberlin,3,1\n' >towns.csv
notes towns.csv --categorical town
# Who predicts has no words of their own.
"$MUSTER" predict towns.csv m out --force | grep alike
printf 'town,x,y\nBerlin,1,0\nBerl,2,1\nBonn,3,1\n' >other.csv
notes other.csv
