"$MUSTER" relay --help
