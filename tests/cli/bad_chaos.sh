"$MUSTER" train gen:gmm:100,4 -n 4 --chaos kill:w3
