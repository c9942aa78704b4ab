#!/bin/sh
# The example of include/muster.h as a user would build it: against the built
# library through pkg-config.  The hash is the same everywhere, so it can stand
# here.
set -u
echo 1..4
export LD_LIBRARY_PATH="$BUILD/src"
export PKG_CONFIG_PATH="$BUILD/meson-uninstalled"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
if cc -std=c17 -Wall -Wextra -Werror -O2 -ffp-contract=off -o own_gradient \
    "$ROOT/examples/own_gradient.c" \
    $(pkg-config --cflags --libs muster) -lm
then echo "ok 1 - compiles against the library"
else echo "not ok 1 - compiles against the library"
fi
./own_gradient >out
if grep -q '^y = 3\.0022 x -2\.0042 ' out
then echo "ok 2 - finds the line"
else echo "not ok 2 - finds the line: $(cat out)"
fi
if grep -q '^model 4e8871cc4a4d029ec9f0614c57b43f50' out
then echo "ok 3 - the same bits as ever"
else echo "not ok 3 - the same bits as ever: $(cat out)"
fi
./own_gradient 3 >with
if test -s out && cmp -s out with
then echo "ok 4 - with three workers, too"
else echo "not ok 4 - with three workers, too: $(cat with)"
fi
