#!/bin/sh
# Another compiler, the same bits: what computes, compiled by clang, keeps the
# digest of all arithmetic on every instruction set that this machine has, and
# ends a linear training and those of networks on the hashes of `muster train`.
set -u
compiler=clang
if ! command -v $compiler >/dev/null; then
    echo 1..1
    echo "ok 1 - clang # SKIP no clang here; tools/deps.sh test installs it"
    exit 0
fi

src=$ROOT/src
count=0
# say OK TEXT
say() {
    count=$((count + 1))
    [ "$1" = 0 ] && echo "ok $count - $2" || echo "not ok $count - $2"
}

flags="-std=c17 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off -fno-math-errno
    -fno-trapping-math -ffunction-sections -I$src"
# As src/math/meson.build has them; but gemm and its kin have -mfma.
avx2=-mavx2
avx512='-mavx512f -mavx512dq -mavx512bw -mavx512vl'

# One line each: flags, then the file.
{
    find "$src"/base "$src"/math "$src"/model "$src"/optim -name '*.c' \
        ! -path '*/model/files/*' | while read -r file; do
        more=
        case $file in
        */net/*_avx*) more=-mfma ;;
        esac
        case $file in
        *_avx2.c) more="$more $avx2" ;;
        *_avx512.c) more="$more $avx512" ;;
        esac
        echo "$more $file"
    done
    for file in os/run/pages data/rows/dataset data/rows/storage data/rows/image \
        data/make/gen data/make/digits sim/networked node/arithmetic; do
        echo "$src/$file.c"
    done
    for file in once once_net digests; do
        echo "$ROOT/tests/lib/$file.c"
    done
} >files.txt
export compiler flags
xargs -P 2 -I LINE sh -c 'set -f; set -- LINE; for file; do :; done
    $compiler $flags -c "$@" -o "$(echo "$file" | tr / _).o" || exit 255' \
    <files.txt
say $? "clang compiles what computes"

# Functions that nobody calls, and what they would need, are left out.
ar rc all.a ./*.c.o && ar d all.a ./*tests_lib_*.o ./*_base_hash.c.o
hash=$(ls ./*_base_hash.c.o)
link() {
    $compiler -Wl,--gc-sections -o "$@" all.a -lm -lpthread
}
link once ./*_tests_lib_once.c.o ./*_tests_lib_once_net.c.o &&
    link digests ./*_tests_lib_digests.c.o all.a "$hash" -lcrypto
say $? "... and links it"

field() {
    sed -n "s/.*\"$1\": *\"\([0-9a-f]*\)\".*/\1/p"
}

./digests >digests.txt
here=$("$MUSTER" version --format json | field arithmetic)
[ -n "$here" ] && [ "$(head -n 1 digests.txt)" = "$here" ]
say $? "the digest of arithmetic is the program's"
for isa in $(sed 1d digests.txt | cut -d: -f1); do
    grep -qx "$isa" digests.txt
    say $? "$isa keeps it"
    sed -n "s/^$isa:/#/p" digests.txt
done

# linear MODEL OPTIM ISA
linear() {
    clang=$(./once $1 $2 gen:gmm:600,21 12 5 $3 | sha256sum | cut -d' ' -f1)
    gcc=$("$MUSTER" train -q gen:gmm:600,21 --model $1 --optim $2 --no-intercept \
        --accuracy 0 --steps 12 --seed 5 --isa $3 --format json | field hash)
    [ -n "$gcc" ] && [ "$clang" = "$gcc" ]
    say $? "$1 $2, $3: the hash of gcc"
}

# network NET SHUFFLE ISA
network() {
    clang=$(./once train-net "$1" gen:digits:100 $2 12 5 $3 | sha256sum |
            cut -d' ' -f1)
    gcc=$("$MUSTER" train -q gen:digits:100 --net "$1" --shuffle $2 --steps 12 \
        --seed 5 --isa $3 --optim adam --batch 24 --chunk-rows 8 --lr 0.01 \
        --schedule constant --format json | field hash)
    [ -n "$gcc" ] && [ "$clang" = "$gcc" ]
    say $? "$1, $2, $3: the hash of gcc"
}

for isa in $(sed 1d digests.txt | cut -d: -f1); do
    linear logistic gd $isa
    linear softmax lbfgs $isa
    network "dense16 tanh drop.25 dense10" local $isa
    network "conv3x3x4 relu pool2 drop.25 dense10" rows $isa
done
echo "1..$count"
