#!/bin/sh
# static_library.sh IN OUT - an archive of one object, whose hidden names are
# its own: a program that links it sees what is marked MUSTER_API, no more.
set -eu
in=$1 out=$2
object=$(mktemp -d)/muster.o
trap 'rm -rf "$(dirname "$object")"' EXIT
${LD:-ld} -r --whole-archive -o "$object" "$in"
${OBJCOPY:-objcopy} --localize-hidden "$object"
rm -f "$out"
${AR:-ar} rcs "$out" "$object"
