"$MUSTER" predict --help
