#!/usr/bin/env python3
"""Check that each folder of src/ includes only what src/LAYERS grants it.

A line there is "folder: granted granted ...".  A granted name stands for its
sub-folders too.  A sub-folder may include its parent and what the parent may,
a sibling only if its own line names it; a parent may include its sub-folders.
"""

import re
import sys
from pathlib import Path

SRC = Path(__file__).resolve().parent.parent / "src"
INCLUDE = re.compile(r'^#include "(.*)"', re.MULTILINE)
NAME = re.compile(r"([a-z]+(?:/[a-z]+)?)/[a-z0-9_]+\.(?:h|inc)")


def read_grants():
    """Folder -> the folders that it is granted, in order of the lines."""
    grants = {}
    for line in (SRC / "LAYERS").read_text().splitlines():
        if line and not line.startswith("#"):
            folder, granted = line.split(":")
            grants[folder.strip()] = granted.split()
    return grants


def may_include(grants, folder, used):
    parent = folder.split("/")[0]
    if used in (folder, parent) or used.startswith(folder + "/"):
        return True
    granted = grants.get(folder, []) + grants.get(parent, [])
    return any(used == name or used.startswith(name + "/")
               for name in granted)


def check_file(grants, path, complaints):
    folder = path.parent.relative_to(SRC).as_posix()
    where = path.relative_to(SRC.parent)
    for included in INCLUDE.findall(path.read_text()):
        name = NAME.fullmatch(included)
        if included == "muster.h":
            continue
        if name is None:
            # Without its folder a name would walk round the rules.
            complaints.append(f'{where}: write "folder/file.h": {included}')
        elif not may_include(grants, folder, name[1]):
            complaints.append(f"{where}: {folder}/ must not include {included}")


def main():
    grants = read_grants()
    complaints = []
    for folder in sorted(SRC.iterdir()):
        if folder.is_dir() and folder.name not in grants:
            complaints.append(f"src/LAYERS does not mention {folder.name}")
    for folder in grants:
        if not (SRC / folder).is_dir():
            complaints.append(f"src/LAYERS mentions {folder}, which is not there")
    for path in sorted(SRC.rglob("*")):
        if path.suffix in (".c", ".h", ".inc"):
            check_file(grants, path, complaints)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
