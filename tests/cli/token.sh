"$MUSTER" token new cluster.token
"$MUSTER" token new w1.token --name w1 --from cluster.token
stat -c '%a %n' cluster.token w1.token
cut -d ' ' -f 1,2 cluster.token w1.token
"$MUSTER" token new cluster.token
echo "status $?"
"$MUSTER" token new w2.token --name w2
echo "status $?"
"$MUSTER" token
echo "status $?"
