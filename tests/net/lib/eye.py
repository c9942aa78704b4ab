"""What processes say and hear, although all of it is encrypted on the road.

Whoever is started `with Eye(folder)` keeps a copy there: lib/eye.c stands
between the program and OpenSSL.
"""

import os
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "eye.c"


class Eye:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.folder.mkdir()
        self.library = self.folder / "eye.so"
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O",
                        "-o", self.library, SOURCE], check=True)

    def __enter__(self):
        os.environ.update(EYE=str(self.folder), LD_PRELOAD=str(self.library))
        return self

    def __exit__(self, *_):
        del os.environ["EYE"], os.environ["LD_PRELOAD"]

    def saw(self, what):
        """One stream of each process; `what`: sent or heard."""
        return [path.read_bytes() for path in self.folder.glob(f"{what}.*")]
