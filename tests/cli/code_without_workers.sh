"$MUSTER" train gen:gmm:100,4 --code frc
