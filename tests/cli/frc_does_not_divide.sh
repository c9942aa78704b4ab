"$MUSTER" train gen:gmm:100,4 -n 5 --code frc --stragglers 1
