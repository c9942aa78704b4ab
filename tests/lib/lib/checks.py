"""What the programs of tests/lib share: functions as TAP points, and libraries
that only Debian's Python has."""

import importlib
import os
import sys
import tempfile

DEBIAN = "/usr/bin/python3"


def need(*modules):
    """Import them, by Debian's Python if this one has them not, or skip."""
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError as missing:
        if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN) and \
                os.path.exists(DEBIAN):
            os.execv(DEBIAN, [DEBIAN, *sys.argv])
        print(f"1..0 # SKIP {missing}: tools/deps.sh test installs it")
        sys.exit(0)


def run(checks):
    """Each in an empty folder; (name, function), where what the function
    returns is printed behind its name."""
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                said = check()
                print(f"ok {number} - {name}" + (f": {said}" if said else ""),
                      flush=True)
            except Exception as error:  # Whatever it is, the point failed.
                print(f"not ok {number} - {name}: {error!r}", flush=True)
            os.chdir("/")


def run_named(*checks):
    run([(check.__name__, check) for check in checks])
