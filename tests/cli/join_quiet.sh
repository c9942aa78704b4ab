# -q: no progress.  A worker whose machine is taken away at once tells of it,
# and maybe that nobody is there (port 1 is never ours).
: >notice
"$MUSTER" token new t >/dev/null
"$MUSTER" join 127.0.0.1:1 --token-file t --preempt-notice file:notice --name w 2>&1 |
    grep -v "trying again"
"$MUSTER" join 127.0.0.1:1 --token-file t --preempt-notice file:notice --name w -q 2>&1
echo "status $?"
