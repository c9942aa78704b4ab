# ignore:staleness=B: what it needs and refuses, one sentence each; then runs.
say() { "$MUSTER" "$@" 2>&1; echo "exit $?"; }
say train gen:gmm:200,4 -n 4 --code ignore:staleness
say train gen:gmm:200,4 -n 4 --code ignore:staleness=two
say train gen:gmm:200,4 -n 4 --code ignore:staleness=-1
say train gen:gmm:200,4 --code ignore:staleness=2
say train gen:gmm:200,4 -n 1 --code ignore:staleness=2
say train gen:gmm:200,4 -n 4 --code frc:staleness=2
say train gen:gmm:200,4 -n 4 --code ignore:staleness=2:stop=deadline:1
say train gen:gmm:200,4 -n 4 --code ignore:staleness=2 --optim lbfgs
say train gen:gmm:200,4 -n 4 --code ignore:staleness=2 --optim newton
say train gen:gmm:200,4 -n 4 --code ignore:staleness=2 --exact bitwise
say train gen:gmm:200,4 -n 4 --code ignore:staleness=2 --exact numeric
say train gen:gmm:200,4 -n 4 --code ignore:staleness=2 --record times.csv
say simulate gen:gmm:200,4 -n 4 --compare ignore:staleness=2 --optim newton
say simulate --no-compute -n 4 --compare rep:staleness=2
say simulate --no-compute -n 4 --compare uncoded,ignore,ignore:staleness=0,\
ignore:staleness=1,ignore:staleness=4 --delay worker:w2=5 --work 1 --steps 100
say simulate gen:gmm:400,4 -n 4 --code ignore:staleness=2 --delay worker:w2=5 --steps 30 \
    --seed 3 --chunk-rows 16
say codes ignore:staleness=2 -n 3
