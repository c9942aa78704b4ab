# What relays cannot carry is refused before anything starts.
for flags in "--verify" "--audit 1%" "--staleness 2 --optim gd" "--code mds"; do
    "$MUSTER" train gen:gmm:300,5 --steps 2 -n 4 --fanout 2 $flags 2>&1
done
