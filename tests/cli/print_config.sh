echo "--l2 0.5   # from the file" >options.conf
MUSTER_SEED=7 "$MUSTER" train --config options.conf --steps 5 --print-config
MUSTER_SEED=7 "$MUSTER" simulate --print-config --format json | head -n 5
