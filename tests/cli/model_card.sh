# A saved model has a card beside it, which is told apart from other cards and
# other files.
"$MUSTER" train gen:gmm:400,3 m.txt --steps 3 --optim gd -q >/dev/null
hide='s/"muster": ".*"/"muster": V/; s/"config_hash": ".*"/"config_hash": H/; s/muster [0-9.]*,/muster V,/'
sed "$hide" m.txt.card.json
"$MUSTER" model show m.txt | sed -n "$hide; /^trained/,\$p"
python3 - <<'END'
import hashlib
import json
card = json.load(open("m.txt.card.json"))
print(card["sha256"] == hashlib.sha256(open("m.txt", "rb").read()).hexdigest())
END
"$MUSTER" model show m.txt --format json | python3 -c '
import json, sys
print(json.load(sys.stdin)["card"] == json.load(open("m.txt.card.json")))'
echo "--- the card of another model, and what is no card"
cp m.txt.card.json other.card.json
sed 's/^bias 1/bias 2/' m.txt >other
"$MUSTER" model show other | grep -c trained
for no in '{}' 'precious' '{"model_card"'; do
    echo "$no" >kept.card.json
    "$MUSTER" train gen:gmm:400,3 kept --steps 1 -q 2>&1 >/dev/null
    "$MUSTER" train gen:gmm:400,3 kept --steps 1 2>&1 >/dev/null | grep card
    cat kept.card.json
done
"$MUSTER" train gen:gmm:400,3 - --steps 1 -q | head -n 1
ls
