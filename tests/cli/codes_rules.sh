# The table of what does not go together, and docs/codes.md, which prints it.
"$MUSTER" codes --rules > rules
sed '1,/^<!-- muster codes --rules -->$/d' "$ROOT/docs/codes.md" |
    sed '1d;/^```$/,$d' > printed
diff printed rules && echo "docs/codes.md agrees"
"$MUSTER" codes --rules --format json | grep -c '"why"' |
    sed 's/^[1-9][0-9]*$/as many rules in JSON/'
