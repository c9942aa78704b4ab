# Symbolic links that lead in a circle are named as what they are, wherever a
# file or a folder is named; they are no matter of permissions, nor missing.
ln -s there here
ln -s here there
try() { echo "$*"; "$MUSTER" "$@" -q 2>&1 >/dev/null | sed 's/`ls -l`.*//'; }
try train here model
try train gen:gmm:200,4 here --steps 2
try train gen:gmm:200,4 -n 2 --steps 2 --out here
try train gen:gmm:200,4 -n 2 --steps 2 --out here/run
try train gen:gmm:200,4 -n 2 --steps 2 --listen 127.0.0.1:0 --token-file here
try train gen:gmm:200,4 --init here
try train gen:gmm:200,4 --config here
try train --resume=here
try predict here here
try model show here
try data info here
try status here
try stop here
try join here
try report here
try token new here
