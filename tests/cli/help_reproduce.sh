"$MUSTER" reproduce --help
