"$MUSTER" status --help
