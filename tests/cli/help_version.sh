"$MUSTER" version --help
