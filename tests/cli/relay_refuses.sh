# To whom, where, and under which key: said before anything is opened.
"$MUSTER" relay 2>&1; echo "$?"
"$MUSTER" relay 127.0.0.1 2>&1; echo "$?"
"$MUSTER" relay 192.0.2.1:7731 2>&1; echo "$?"
"$MUSTER" relay 127.0.0.1:7731,192.0.2.1:7731 2>&1; echo "$?"
"$MUSTER" relay 127.0.0.1:7731 --listen 0.0.0.0:7732 2>&1; echo "$?"
"$MUSTER" relay 127.0.0.1:7731 2>&1; echo "$?"
"$MUSTER" token new t >/dev/null
"$MUSTER" relay 127.0.0.1:7731 --token-file t --name 'a b' 2>&1; echo "$?"
