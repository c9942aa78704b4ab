# A file beyond `ulimit -f` is a write that failed, and nothing is left of it.
"$MUSTER" train gen:gmm:20,3 m -q >/dev/null 2>&1
(
    ulimit -f 1
    "$MUSTER" predict gen:gmm:9000,3 m out -q 2>&1
    echo "exit $?"
)
ls
