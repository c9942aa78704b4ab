# Every option of the commands whose --help shows only the first.
"$MUSTER" train --help all
"$MUSTER" simulate --help all
