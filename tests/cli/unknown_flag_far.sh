"$MUSTER" train --zzzzzzzzz
