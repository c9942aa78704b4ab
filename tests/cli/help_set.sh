"$MUSTER" set --help
