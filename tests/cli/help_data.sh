"$MUSTER" data --help
