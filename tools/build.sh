#!/bin/sh
# build.sh VARIANT [tests [TARGET...]] - build build/VARIANT/muster, or that and
# the tests, or of all these only some targets of ninja.
#
# Each variant has its own folder, set up on first use.  With CI set in the
# environment warnings are errors.
set -eu
cd "$(dirname "$0")/.."

# Meson is talkative; it is heard when it fails.
aloud_on_failure() {
    "$@" >"$dir/setup.log" 2>&1 || {
        grep ERROR "$dir/setup.log" >&2 || tail -n 20 "$dir/setup.log" >&2
        exit 1
    }
}

variant=$1
what=${2:-program}
shift $(($# < 2 ? $# : 2))
target=$*
dir=build/$variant
case $variant in
release) set -- ;;
# At -O1 these compile in little more than half the time; ASan and UBSan together
# at -Og in three quarters of that, and what they compile runs a tenth longer.
asan) set -- -Db_sanitize=address,undefined -Doptimization=g ;;
tsan) set -- -Db_sanitize=thread -Doptimization=1 ;;
cover) set -- -Db_coverage=true -Doptimization=1 ;;
*)
    echo "build.sh: no variant named $variant;" \
         "there are release asan tsan cover" >&2
    exit 2 ;;
esac
[ -z "${CI:-}" ] || set -- "$@" -Dci=true

mkdir -p "$dir"
exec 9>"$dir/lock" && flock 9 # One build at a time in each folder.

if [ "$what" = tests ]; then
    set -- "$@" -Dtests=true
    # At one go, since each has all pages of the manual indexed again.
    tools/deps.sh build test mpi || {
        tools/deps.sh build test
        echo "build.sh: --topology mpi is not tested" >&2
    }
else
    tools/deps.sh build
fi

# Programs for the MPIs that are there: one file each.
mpis=
for mpi in openmpi mpich; do
    ! command -v "mpicc.$mpi" >/dev/null || mpis="$mpis mpicc.$mpi"
done
[ -n "$mpis" ] || ! command -v mpicc >/dev/null || mpis=' mpicc'
set -- "$@" "-Dmpi=$(echo $mpis | tr ' ' ,)"

# Configure when the folder is new or lacks an option that is wanted now.
options=$dir/options.txt
# In a tree that was moved or copied it names files of the old place.
grep -qxFe "in $PWD" "$options" 2>/dev/null ||
    rm -rf "$options" "$dir/build.ninja" "$dir/meson-private" "$dir/meson-info"
for option in "$@"; do
    grep -qxFe "$option" "$options" 2>/dev/null || rm -f "$options"
done
if [ ! -e "$options" ] || [ ! -e "$dir/build.ninja" ]; then
    echo "configuring $dir"
    again=
    [ ! -e "$dir/build.ninja" ] || again=--reconfigure
    aloud_on_failure meson setup $again "$@" "$dir"
    printf '%s\n' "in $PWD" "$@" >"$options"
fi

[ "$what" = tests ] || ! [ -e src/cli/main.c ] || {
    target='muster library examples/shuffle'
    for mpi in $mpis; do
        mpi=${mpi#mpicc.}
        target="$target muster-${mpi%cc}"
    done
}
echo "building $dir"
aloud_on_failure ninja -C "$dir" build.ninja # Some meson.build was edited.
quiet=--quiet # Warnings only; on a terminal, a line of progress too.
[ ! -t 1 ] || quiet=
ninja -C "$dir" $quiet ${target:-all}
if [ "$variant" = release ] && [ -e "$dir/muster" ]; then
    ln -sfn release/muster build/muster
fi
