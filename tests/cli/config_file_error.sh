printf 'steps 5\n\nstpes 6\n' >bad.conf
"$MUSTER" train --config bad.conf
