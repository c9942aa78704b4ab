"""What worlds.py and engines.py do with their tables: run each row, print the
model's hash, and see whether all are one."""

import subprocess
import time


class Skipped(Exception):
    """This machine has not what a row needs."""


def compare(job, rows, kind):
    """Of (name, function that returns a hash); 1 if two differ or one fails."""
    hashes, skipped, failed = set(), 0, 0
    print("muster train", *job)
    for name, train in rows:
        began = time.monotonic()
        try:
            found = train()
            hashes.add(found)
            found += f"  {time.monotonic() - began:5.1f} s"
        except Skipped as reason:
            found, skipped = f"skipped: {reason}", skipped + 1
        except (OSError, AssertionError, subprocess.SubprocessError) as error:
            found, failed = f"FAILED: {error}", failed + 1
        print(f"  {name:36} {found}", flush=True)
    print(f"{len(rows) - skipped} {kind}, {len(hashes)} hash"
          f"{'' if len(hashes) == 1 else 'es'}, {skipped} skipped, "
          f"{failed} failed")
    return int(len(hashes) != 1 or failed > 0)
