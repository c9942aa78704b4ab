"$MUSTER" join --help
