"$MUSTER" model --help
