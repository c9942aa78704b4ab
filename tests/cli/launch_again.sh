# A run that goes on elsewhere waits for the workers of there, not for as many as
# it had, unless it is told how many.  An ssh that stays here.
mkdir bin
cat >bin/ssh <<'EOF'
#!/bin/sh
for last; do :; done
SSH_CONNECTION='127.0.0.1 1 127.0.0.1 2' exec sh -c "$last"
EOF
chmod +x bin/ssh
PATH=$PWD/bin:$PATH
says() { "$MUSTER" launch ssh --remote "$MUSTER" "$@" 2>&1 | grep -o '[0-9]* workers* awaited'; }
says --hosts a,b:2 -- train gen:gmm:400,3 --steps 2 --out run
says --hosts a -- train --resume=run
says --hosts a --workers 2 -- train --resume=run
says --hosts a --workers 2 -- train --resume=run --workers 5
