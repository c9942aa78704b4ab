# Times differ; everything else must not.
"$MUSTER" train gen:gmm:2000,20 | sed 's/in [0-9.]* s/in T s/'
