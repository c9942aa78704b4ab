"$MUSTER" tarin
