# A fault for somebody who is not here is said so, and the run goes on.
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 6 --code uncoded \
    --chaos kill:w9@3,stop:nobody@4+1 -q 2>&1 >/dev/null
