#!/bin/sh
# deb.sh - make a Debian package of what `make install` installs: program,
# library, header, Python package, manual page.  Needs no root; dpkg-dev's
# dpkg-shlibdeps finds what it depends on.  Prints the package's path.
set -eu
cd "$(dirname "$0")/.."
command -v dpkg-shlibdeps >/dev/null || {
    echo "deb.sh: no dpkg-shlibdeps; please run: sudo apt-get install dpkg-dev" >&2
    exit 1
}

version=$(sed -n "s/^ *version: '\(.*\)',/\1/p" meson.build)
arch=$(dpkg --print-architecture)
work=$PWD/build/deb
root=$work/root
out=build/dist/muster_${version}_$arch.deb
# Equal sources make an equal package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null ||
                                         echo 0)}
export SOURCE_DATE_EPOCH

rm -rf "$work"
mkdir -p "$root/DEBIAN" "$work/debian" build/dist
make --no-print-directory install PREFIX=/usr DESTDIR="$root" >"$work/log" || {
    cat "$work/log" >&2
    exit 1
}

# Pure Python, for every Python 3 that Debian has.
mkdir -p "$root/usr/lib/python3/dist-packages"
mv "$root"/usr/lib/python3.*/*-packages/muster \
    "$root/usr/lib/python3/dist-packages/muster"
rm -rf "$root"/usr/lib/python3.*
strip --strip-unneeded "$root/usr/bin/muster" \
    "$root"/usr/libexec/muster/* "$root"/usr/lib/*/libmuster.so.*.*
strip --strip-debug "$root"/usr/lib/*/libmuster.a
gzip -9n "$root/usr/share/man/man1/muster.1"
doc=$root/usr/share/doc/muster
mkdir -p "$doc"
cp README.md SECURITY.md "$doc"
gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
{
    echo "Muster is under the Apache License, version 2.0:"
    echo "/usr/share/common-licenses/Apache-2.0"
} >"$doc/copyright"

echo "Source: muster" >"$work/debian/control" # dpkg-shlibdeps wants to see one.
depends=$(cd "$work" && dpkg-shlibdeps -O -lroot/usr/lib/"$(
    dpkg-architecture -qDEB_HOST_MULTIARCH)" root/usr/bin/muster \
    root/usr/lib/*/libmuster.so.*.* 2>"$work/log" |
    sed -n 's/^shlibs:Depends=//p') || { cat "$work/log" >&2; exit 1; }

cat >"$root/DEBIAN/control" <<END
Package: muster
Version: $version
Architecture: $arch
Maintainer: the authors of Muster
Section: science
Priority: optional
Depends: $depends
Recommends: python3, python3-numpy
Suggests: python3-sklearn, openmpi-bin, mpich
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Description: distributed training that ends with the same bits
 Muster trains linear models, SVMs, softmax and neural networks on machines of
 which any may be slow, be killed, leave or join, and ends on the model of a
 single machine, bit for bit.  This package has the program, the C library with
 its header, and the Python package.
END
echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z |
    xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group --build "$root" "$out" >/dev/null
rm -rf "$work"
echo "$out"
