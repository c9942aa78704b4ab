"$MUSTER" train --stps 3
