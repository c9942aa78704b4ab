"$MUSTER" token --help
