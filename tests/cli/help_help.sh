"$MUSTER" help --help
