"$MUSTER" plan --help
