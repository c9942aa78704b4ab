"$MUSTER" train gen:gmm:100,4 -n 2 --workers 4
"$MUSTER" train gen:gmm:100,4 -n 2 --stragglers 3
