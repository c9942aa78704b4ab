# A file of flags cannot name another, which nobody would read.
printf 'steps 5\n--config=other.conf\n' >outer.conf
printf 'steps 7\n' >other.conf
"$MUSTER" train gen:gmm:200,3 --config outer.conf
