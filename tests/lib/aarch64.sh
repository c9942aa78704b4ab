#!/bin/sh
# The same training on another processor: the portable kernels, cross-compiled
# for aarch64 and run under qemu-user, must end on the hash of `muster train`,
# linear models and networks, and networks on the digest that is compiled in.
set -u
echo 1..20
emulator=$(sh "$ROOT"/tests/lib/lib/once.sh)
case $? in
0) echo "ok 1 - cross-compiles" ;;
77)
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        echo "ok $i - aarch64 # SKIP $emulator"
    done
    exit 0 ;;
*) echo "not ok 1 - cross-compiles" ;;
esac

i=1
for model in logistic svm linear softmax; do
    data=gen:gmm:600,21 steps=12
    [ $model = softmax ] && data=gen:digits:12 steps=4
    for optim in gd agd lbfgs newton; do
        i=$((i + 1))
        arm=$("$emulator" ./once $model $optim $data $steps 5 | sha256sum |
              cut -d' ' -f1)
        here=$("$MUSTER" train $data --model $model --optim $optim --no-intercept \
               --accuracy 0 --steps $steps --seed 5 --format json |
               sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p')
        if [ -n "$here" ] && [ "$arm" = "$here" ]
        then echo "ok $i - $model $optim: same bits on aarch64"
        else echo "not ok $i - $model $optim: aarch64 $arm, here $here"
        fi
    done
done

arm=$("$emulator" ./once net | sha256sum | cut -d' ' -f1)
if [ "$arm" = "$("$emulator" ./once net-digest)" ]
then echo "ok 18 - networks: same bits on aarch64"
else echo "not ok 18 - networks: aarch64 $arm"
fi

i=18
# network NET SHUFFLE
network() {
    i=$((i + 1))
    arm=$("$emulator" ./once train-net "$1" gen:digits:60 $2 8 5 portable |
          sha256sum | cut -d' ' -f1)
    here=$("$MUSTER" train -q gen:digits:60 --net "$1" --shuffle $2 --steps 8 \
           --seed 5 --optim adam --batch 24 --chunk-rows 8 --lr 0.01 \
           --schedule constant --format json |
           sed -n 's/.*"hash": *"\([0-9a-f]*\)".*/\1/p')
    if [ -n "$here" ] && [ "$arm" = "$here" ]
    then echo "ok $i - $1, $2: same bits on aarch64"
    else echo "not ok $i - $1, $2: aarch64 $arm, here $here"
    fi
}
network "dense16 tanh drop.25 dense10" local
network "conv3x3x4 relu pool2 drop.25 dense10" rows
