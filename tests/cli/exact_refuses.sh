"$MUSTER" train gen:gmm:100,4 -n 4 --code agc:collect=2 --exact bitwise
