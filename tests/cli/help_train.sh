"$MUSTER" train --help
