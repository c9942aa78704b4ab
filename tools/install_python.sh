#!/bin/sh
# install_python.sh LIBDIR - the Python package beside the library: where this
# machine's python3 looks for packages under the prefix, else in
# lib/python3.N/site-packages there, which PYTHONPATH then has to name.
set -eu
prefix=$MESON_INSTALL_PREFIX
libdir=$1
case $libdir in /*) ;; *) libdir=$prefix/$libdir ;; esac
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3) || exit 0
folder=$($python - "$prefix" <<'END'
import site, sys
prefix = sys.argv[1].rstrip("/") + "/"
own = [path for path in site.getsitepackages() if path.startswith(prefix + "lib/python3.")]
print(own[0] if own else prefix + "lib/python%d.%d/site-packages" % sys.version_info[:2])
END
)
to=${DESTDIR:-}$folder/muster
mkdir -p "$to"
cp "$MESON_SOURCE_ROOT"/python/muster/*.py "$to"
printf '"""Where the library was installed."""\n\nLIBDIR = "%s"\n' "$libdir" \
    >"$to/_place.py"
