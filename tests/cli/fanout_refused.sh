# What relays cannot carry is refused before anything starts.
"$MUSTER" train gen:gmm:300,5 --steps 2 -n 4 --fanout 2 --code mds 2>&1
"$MUSTER" simulate gen:gmm:300,5 --steps 2 --fanout 2 2>&1
