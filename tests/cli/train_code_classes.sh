# What each class of code says of its steps.
for code in "frc" "cyclic" "ignore" "uncoded"; do
    # shellcheck disable=SC2086
    "$MUSTER" train gen:gmm:1000,8 --steps 5 -n 4 --format json -q \
        --code $code >result.json
    python3 - <<'END'
import json
result = json.load(open("result.json"))
print(result["code"], result["exactness"], result["worst_residual"] < 1e-12)
END
done
