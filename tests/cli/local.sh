# Code local: what it needs and refuses, one sentence each; then a run.
say() { "$MUSTER" "$@" 2>&1; echo "exit $?"; }
say train gen:gmm:200,4 -n 4 --code local
say train gen:gmm:200,4 -n 4 --code frc:h=5
say train gen:gmm:200,4 -n 4 --code local:h=0
say train gen:gmm:200,4 -n 4 --code local:h=often
say train gen:gmm:200,4 -n 4 --code local:h=5 --optim agd
say train gen:gmm:200,4 -n 4 --code local:h=5 --optim gd --tol 1e-3
say train gen:gmm:200,4 -n 4 --code local:h=5 --exact bitwise
say train gen:gmm:200,4 -n 4 --code local:h=5:stop=cover
say simulate gen:gmm:200,4 -n 4 --compare uncoded,local
say simulate --no-compute -n 4 --compare uncoded,local:h=8 --steps 64 \
    --work 1
