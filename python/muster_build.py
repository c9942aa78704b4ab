"""What pip asks of a source tree (PEP 517, 660): a wheel of the package with the
library beside it and the program among the scripts.

It needs what `make` needs, and no package of Python's: the library is built by
tools/build.sh, the wheel is a zip file with a list of its contents.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
LIBRARY = "libmuster.so.3"
MODE = 0o100755 << 16  # A plain file that may be run, as zip keeps it.


def version():
    return re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())[1]


def build():
    """As `make`; meson must not see the empty world that pip makes for us."""
    hidden = ("PYTHONPATH", "PYTHONNOUSERSITE", "PYTHONHOME")
    bare = {k: v for k, v in os.environ.items() if k not in hidden}
    subprocess.run([ROOT / "tools" / "build.sh", "release"], cwd=ROOT, env=bare, check=True)


def stripped(path):
    """The bytes of a program or library without what debuggers want."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        shutil.copy(path, copy)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        return copy.read_bytes()


def metadata():
    return (f"Metadata-Version: 2.1\nName: muster\nVersion: {version()}\n"
            "Summary: Distributed training that ends with the same bits\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nRequires-Dist: numpy\n"
            "Description-Content-Type: text/markdown\n\n"
            + (ROOT / "docs" / "python.md").read_text())


class Wheel:
    """A zip file that ends with the list of what is in it."""

    def __init__(self, folder, tag):
        self.info = f"muster-{version()}.dist-info"
        self.path = Path(folder) / f"muster-{version()}-{tag}.whl"
        self.zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED)
        self.record = []
        pure = "true" if tag.endswith("any") else "false"
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: muster_build\n"
                 f"Root-Is-Purelib: {pure}\nTag: {tag}\n".encode())
        self.add(f"{self.info}/LICENSE", (ROOT / "LICENSE").read_bytes())

    def add(self, name, data):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")
        entry = zipfile.ZipInfo(name)
        entry.external_attr, entry.compress_type = MODE, zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)

    def close(self):
        name = f"{self.info}/RECORD"
        self.zip.writestr(name, "\n".join([*self.record, f"{name},,", ""]))
        self.zip.close()
        return self.path.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    wheel = Wheel(wheel_directory, f"py3-none-{platform}")
    for path in sorted((ROOT / "python" / "muster").glob("*.py")):
        wheel.add(f"muster/{path.name}", path.read_bytes())
    wheel.add(f"muster/{LIBRARY}", stripped((BUILD / "src" / LIBRARY).resolve()))
    wheel.add(f"muster-{version()}.data/scripts/muster", stripped(BUILD / "muster"))
    wheel.add(f"muster-{version()}.data/data/libexec/muster/shuffle",
              stripped(BUILD / "examples" / "shuffle"))
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The package where it lies, with the library that make built."""
    build()
    wheel = Wheel(wheel_directory, "py3-none-any")
    wheel.add("muster.pth", str(ROOT / "python").encode() + b"\n")
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    """What git has."""
    name = f"muster-{version()}"
    path = Path(sdist_directory) / f"{name}.tar.gz"
    subprocess.run(["git", "archive", f"--prefix={name}/", "-o", path, "HEAD"], cwd=ROOT,
                   check=True)
    return path.name
