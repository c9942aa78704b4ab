# Stopped before any host has answered, a launch says so.
mkdir bin && mkfifo asked
printf '#!/bin/sh\necho >asked\nexec cat\n' >bin/ssh && chmod +x bin/ssh
PATH=$PWD/bin:$PATH "$MUSTER" launch ssh --hosts nowhere -- \
    train gen:gmm:40,3 --model logistic --out run 2>err &
read -r _ <asked
kill -TERM $!
wait $!
echo "exit $?"
sed -n '/stopped/p' err
