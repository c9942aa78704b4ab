#!/bin/sh
# deps.sh GROUP... - make sure that the Debian packages of the groups are there.
# Root installs what is missing; anybody else is told what to install.
set -eu

packages_of() {
    case $1 in
    build)
        echo gcc libc6-dev pkg-config meson ninja-build libuv1-dev libssl-dev \
             zlib1g-dev libzstd-dev \
             libcurl4-openssl-dev libjansson-dev ;;
    test)
        echo libcmocka-dev valgrind qemu-user-static gcc-aarch64-linux-gnu \
             libc6-dev-arm64-cross liblinear-tools iproute2 openssl clang python3-pandas \
             python3-scipy python3-sklearn python3-venv chromium openssh-server ;;
    mpi)
        echo openmpi-bin libopenmpi-dev mpich libmpich-dev ;;
    lint)
        echo clang-format clang-tidy cppcheck ;;
    bench)
        # Also what the optional tests/lib/gradients.py compares with.
        echo python3-torch libopenblas-dev openmpi-bin libopenmpi-dev ;;
    engines)
        echo python3-distributed python3-pandas python3-yaml buildah mmdebstrap \
             slurmctld slurmd slurm-client munge ;;
    *)
        echo "deps.sh: no group named $1; there are build test mpi lint bench engines" >&2
        exit 2 ;;
    esac
}

# Print those of the arguments that are not installed.
missing() {
    installed=" $(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" \
                  2>/dev/null | sed -n 's/^installed //p' | tr '\n' ' ') " ||
        true
    for package in "$@"; do
        case $installed in
        *" $package "*) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# Daemons among them are for tests, which start their own: none is started here.
hold_daemons() {
    policy=/usr/sbin/policy-rc.d
    [ ! -e "$policy" ] || return 0
    held=$policy
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
}

install() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@" >"$log" 2>&1
}

command -v dpkg-query >/dev/null || exit 0 # Not Debian: meson will tell.
wanted=
for group in "$@"; do
    wanted="$wanted $(packages_of "$group")"
done
[ -n "${wanted# }" ] || exit 0
absent=$(missing $wanted)
absent=${absent% }
[ -n "$absent" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "deps.sh: missing packages: $absent; please run:" \
         "sudo apt-get install $absent" >&2
    exit 1
fi
echo "installing $absent"
log=$(mktemp)
held=
trap 'rm -f "$log" $held' EXIT
hold_daemons
# Package lists may be missing (a fresh image) or too old; then fetch them.
ls /var/lib/apt/lists/*_Packages* >/dev/null 2>&1 && install $absent || {
    apt-get update -qq >"$log" 2>&1 && install $absent || {
        echo "deps.sh: apt-get could not install $absent:" >&2
        tail -n 20 "$log" >&2
        exit 1
    }
}
