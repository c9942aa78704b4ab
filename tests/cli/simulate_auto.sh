# --code auto measures for twenty rounds, scores a code a step, and changes: a
# slow rack is worth more storage, equal workers are not worth any.
for delay in exp:0.3 bimodal:0.1,6/rack:2 shifted:0.2,0; do
    "$MUSTER" simulate --workers 12 --no-compute --steps 160 --work 0.2 \
        --delay "$delay" --compare auto,steal,uncoded
done
"$MUSTER" simulate gen:gmm:2000,20 --workers 6 --steps 60 --work 0.2 \
    --delay exp:0.3 --compare auto,steal | grep -v total
"$MUSTER" simulate --workers 8 --no-compute --steps 80 --work 0.2 \
    --delay exp:0.3 --code auto --format json | grep -A3 code_changes
