#!/bin/sh
# fuzz.sh TARGET [OPTION...] - search for inputs that break one target, or
# all of them one after the other (TARGET `all`), with libFuzzer under
# AddressSanitizer and UBSan.  Needs clang.
#
# Options are libFuzzer's; without any each target gets 1,000,000 runs.  What
# is found new lies in build/fuzz/found/TARGET, what fails in build/fuzz.
# TARGET `seeds` writes messages and cache pages anew, as this release does.
set -eu
cd "$(dirname "$0")/.."

dir=build/fuzz
flags="-g -O1 -std=c17 -D_POSIX_C_SOURCE=200809L -Isrc -Iinclude -Itests/fuzz
       -ffp-contract=off -march=native -Wno-pass-failed
       -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
"
libs="$(pkg-config --libs libuv openssl libcurl zlib libzstd jansson)
      -lm"
ccache=$(command -v ccache || true)

[ $# -gt 0 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
target=$1
shift
[ $# -gt 0 ] || set -- -runs=1000000
case $target in
all) targets=$(ls tests/fuzz/fuzz_*.c | sed 's/.*fuzz_\(.*\)\.c/\1/') ;;
*) targets=$target ;;
esac

mkdir -p $dir/obj
header=$(find src include -name '*.h' -newer $dir/all.a 2>/dev/null | head -1)
[ -z "$header" ] || rm -f $dir/obj/*.o
layers='base os math model data code optim plan core wire'
for source in $(cd src && find $layers -name '*.c' | sort | sed 's,^,src/,') \
    src/node/worker/peer_basket.c src/node/worker/peer_desk.c \
    src/node/ring/papers.c \
    src/node/owners/parts.c src/node/host/outbox.c src/node/host/posting.c; do
    object=$dir/obj/$(echo "$source" | tr / -).o
    [ "$object" -nt "$source" ] ||
        $ccache clang $flags -c "$source" -o "$object"
done
rm -f $dir/all.a
ar rc $dir/all.a $dir/obj/*.o

if [ "$target" = seeds ]; then
    clang $flags -fsanitize=address -Itests/unit tests/fuzz/seeds.c \
        tests/unit/wire/random_msg.c tests/unit/wire/sample_msg.c \
        $dir/all.a $libs -o $dir/seeds
    exec $dir/seeds tests/fuzz/corpus
fi
for name in $targets; do
    corpus=tests/fuzz/corpus/$name
    mkdir -p $dir/found/$name
    clang $flags -fsanitize=fuzzer tests/fuzz/fuzz_$name.c $dir/all.a $libs \
        -o $dir/fuzz_$name
    $dir/fuzz_$name -artifact_prefix=$dir/$name- -print_final_stats=1 "$@" \
        $dir/found/$name "$corpus"
done
