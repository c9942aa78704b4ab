"$MUSTER" stop --help
