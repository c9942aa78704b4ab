"$MUSTER" report --help
