# once.sh - build `once` (tests/lib/once.c) here for aarch64; prints the emulator
# that runs it.  77: there is no compiler or no emulator.
compiler=aarch64-linux-gnu-gcc
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if ! command -v $compiler >/dev/null || [ -z "$emulator" ]; then
    echo "no $compiler or qemu-aarch64 here"
    exit 77
fi

src=$ROOT/src
portable=$(find "$src"/base "$src"/math "$src"/model "$src"/optim -name '*.c' \
    ! -name '*_avx*' ! -name hash.c)
# Unused functions, and what they would need, are left out by the linker.
$compiler -std=c17 -D_POSIX_C_SOURCE=200809L -O2 -ffp-contract=off \
    -fno-math-errno -ffunction-sections -Wl,--gc-sections -static -I"$src" \
    -o once "$ROOT"/tests/lib/once.c "$ROOT"/tests/lib/once_net.c $portable \
    "$src"/sim/networked.c "$src"/os/run/pages.c \
    "$src"/data/rows/dataset.c "$src"/data/rows/storage.c \
    "$src"/data/rows/image.c \
    "$src"/data/make/gen.c "$src"/data/make/digits.c -lm || exit 1
echo "$emulator"
