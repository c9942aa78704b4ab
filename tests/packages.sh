#!/bin/sh
# The tarball has what the repository has; the Debian package holds program,
# example, library, header, Python package and manual page, and they run from where it is
# unpacked.
set -u
count=0 failed=0
check() { # check NAME COMMAND...
    name=$1
    shift
    count=$((count + 1))
    if "$@" >log 2>&1
    then echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        sed 's/^/# /' log
        failed=1
    fi
}

same_files() {
    tarball=$(make -s -C "$ROOT" dist) &&
        tar tzf "$ROOT/$tarball" | sed 's,^[^/]*/,,' | grep -v '/$' |
        grep . | LC_ALL=C sort >packed &&
        git -C "$ROOT" ls-tree -r --name-only HEAD | LC_ALL=C sort >tracked &&
        diff tracked packed
}
if git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1
then check "make dist: every file of the commit" same_files
else
    count=1
    echo "ok 1 - make dist # SKIP no git repository"
fi

if ! command -v dpkg-shlibdeps >/dev/null; then
    echo "ok 2 - make deb # SKIP no dpkg-dev"
    echo 1..2
    exit $failed
fi

build() { package=$(make -s -C "$ROOT" deb) && dpkg-deb -x "$ROOT/$package" at; }
check "make deb, unpacked" build

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" "$ROOT/meson.build")
fields() {
    dpkg-deb -f "$ROOT/$package" Package Version Depends &&
        [ "$(dpkg-deb -f "$ROOT/$package" Version)" = "$version" ] &&
        dpkg-deb -f "$ROOT/$package" Depends | grep -q libuv1 &&
        dpkg-deb -f "$ROOT/$package" Depends | grep -q libssl &&
        ! dpkg-deb -c "$ROOT/$package" | grep -v root/root
}
check "... its version, what it depends on, all files root's" fields

lib=$(dirname "$PWD"/at/usr/lib/*/libmuster.so.3)
trains() {
    at/usr/bin/muster --version | grep -q "^muster $version " &&
        at/usr/bin/muster train gen:gmm:600,9 -n 2 -q | head -1 >ours &&
        "$MUSTER" train gen:gmm:600,9 -q | head -1 >wanted && diff wanted ours
}
check "... its program trains" trains

example() {
    at/usr/bin/muster reproduce shuffle --quick -q --to shuffled &&
        grep -q "exactly half" shuffled/shuffle/index.html
}
check "... the example that reproduce starts" example

python() {
    PYTHONPATH=at/usr/lib/python3/dist-packages LD_LIBRARY_PATH=$lib \
        /usr/bin/python3 -c 'import muster; print(muster.fit("gen:gmm:600,9").hash)' \
        >ours && sed 's/^model *//' wanted | diff - ours
}
if /usr/bin/python3 -c 'import numpy' 2>/dev/null
then check "... its Python package trains" python
else
    count=$((count + 1))
    echo "ok $count - Python # SKIP no numpy: tools/deps.sh test"
fi

links() {
    cc "$ROOT/examples/own_gradient.c" -Iat/usr/include -L"$lib" -lmuster -lm \
        -o own && LD_LIBRARY_PATH=$lib ./own 2
}
check "... a program links its library" links
pages() {
    gzip -dc at/usr/share/man/man1/muster.1.gz | grep -q '^\.TH' &&
        gzip -dc at/usr/share/doc/muster/changelog.gz | grep -m 1 '^## ' |
        grep -qx "## $version ([0-9-]*)"
}
check "... its manual page, its changes" pages
echo 1..$count
exit $failed
