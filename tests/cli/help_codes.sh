"$MUSTER" codes --help
