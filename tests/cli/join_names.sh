# What was typed is shown, but moves no cursor and changes no colour.
"$MUSTER" token new t >/dev/null
name=$(printf '\033[31mred')
"$MUSTER" join 127.0.0.1:1 --token-file t --name "$name" 2>&1
"$MUSTER" relay 127.0.0.1:1 --token-file t --name "$name" 2>&1
"$MUSTER" token new x --name "$name" --from t 2>&1
"$MUSTER" status "$name" 2>&1
"$MUSTER" "$name" 2>&1
"$MUSTER" train "$name" 2>&1
"$MUSTER" train "$(printf 'two\nlines')" 2>&1
"$MUSTER" join 127.0.0.1:1 --token-file t --name "$(printf 'a\377')" \
    --format json 2>&1
