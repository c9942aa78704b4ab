# A model may be anybody's: its words move no cursor and forge no line.
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n' >t.csv
"$MUSTER" train t.csv m --label y -q >/dev/null
sed 's/ a b/ Z%C3%BCrich%1B[2J%0Akind b/; s/^label 2 y/label 2 y%1B[31m/' m >evil
"$MUSTER" model show evil | tr '\033' '^' | head -6
