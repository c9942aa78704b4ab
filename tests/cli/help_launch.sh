"$MUSTER" launch --help
