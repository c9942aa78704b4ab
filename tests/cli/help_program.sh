"$MUSTER" --help
"$MUSTER" help | head -n 1
"$MUSTER" help train | head -n 1
