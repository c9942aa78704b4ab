"$MUSTER" codes
"$MUSTER" codes --format json | head -n 13
