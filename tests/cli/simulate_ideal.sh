# The table of the reference delay stream: n=30, steps 0-99.
for code in "uncoded" "frc" "cyclic" "agc:collect=11"; do
    # shellcheck disable=SC2086
    "$MUSTER" simulate --workers 30 --stragglers 1 --delay reference \
        --no-compute --steps 100 --code $code | tail -n 1
done
# As many steps as --help says, without any data, too.
"$MUSTER" simulate -n 8 --no-compute --delay exp:.5 | tail -1
