# Who listens at all addresses tells others its name, not loopback.
"$MUSTER" token new cluster.token >/dev/null
name=$(python3 -c 'import socket; print(socket.gethostname())')
"$MUSTER" train gen:gmm:400,5 -n 1 --steps 3 --listen 0.0.0.0:0 \
    --token-file cluster.token --out all 2>&1 >/dev/null |
    grep 'to add' | sed "s/ $name:[0-9]*/ NAME:PORT/"
"$MUSTER" train gen:gmm:400,5 -n 1 --steps 3 --listen 127.0.0.1:0 \
    --out here 2>&1 >/dev/null | grep 'to add'
