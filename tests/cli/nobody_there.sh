# Port 1 is never ours.
"$MUSTER" token new t >/dev/null
"$MUSTER" status 127.0.0.1:1 --token-file t
echo "status $?"
"$MUSTER" status 127.0.0.1:1
echo "status $?"
"$MUSTER" join 127.0.0.1:1
echo "status $?"
"$MUSTER" stop
echo "status $?"
"$MUSTER" status nowhere/run
echo "status $?"
"$MUSTER" join
echo "status $?"
"$MUSTER" join trainer.example:7731
echo "status $?"
"$MUSTER" status nowhere
echo "status $?"
mkdir over
"$MUSTER" status over
echo "status $?"
"$MUSTER" set over size=20%
echo "status $?"
"$MUSTER" set size=20%
echo "status $?"
"$MUSTER" set
echo "status $?"
"$MUSTER" set over shadows=2
echo "status $?"
