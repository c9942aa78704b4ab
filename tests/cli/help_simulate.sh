"$MUSTER" simulate --help
