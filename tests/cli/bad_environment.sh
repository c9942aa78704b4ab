MUSTER_STEPS=many "$MUSTER" train
