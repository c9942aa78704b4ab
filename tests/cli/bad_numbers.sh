# Each must be refused with a sentence and status 2.
for words in "--steps 0" "--steps x" "--steps 1e3" "--lr -1" "--lr nan" \
    "--l2 1x" "--decay 2" "-n -3" "--workers 5:2" "--seed 1.5" "--steps" \
    "--format xml" "--model far" "--sync=perhaps" "--cache -q" "a b c" \
    "gen:gmm:100,3 --optim gd --accuracy 1e-3" \
    "gen:gmm:100,3 -n 2 --code ignore --accuracy 1e-3"; do
    # shellcheck disable=SC2086
    "$MUSTER" train $words 2>&1
    echo "status $?"
done
