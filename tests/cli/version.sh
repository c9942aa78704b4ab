"$MUSTER" version
"$MUSTER" --version
"$MUSTER" version --format json
