# A saved model has a card beside it, which is told apart from other cards and
# other files.
"$MUSTER" train gen:gmm:400,3 m.txt --steps 3 --optim gd -q >/dev/null
hide='s/"muster": ".*"/"muster": V/; s/"config_hash": ".*"/"config_hash": H/; s/muster [0-9.]*,/muster V,/'
sed "$hide" m.txt.card.json
"$MUSTER" model show m.txt | sed -n "$hide; /^trained/,\$p"
sed "$hide; /^trained/,\$d" m.txt.card.txt
"$MUSTER" model show m.txt | sed -n '/^trained/,$p' >shown
sed -n '/^trained/,$p' m.txt.card.txt | cmp - shown && rm shown
python3 - <<'END'
import hashlib
import json
card = json.load(open("m.txt.card.json"))
print(card["sha256"] == hashlib.sha256(open("m.txt", "rb").read()).hexdigest())
END
"$MUSTER" model show m.txt --format json | python3 -c '
import json, sys
print(json.load(sys.stdin)["card"] == json.load(open("m.txt.card.json")))'
echo "--- numbers are shown as they are"
"$MUSTER" train gen:gmm:400,3 n.txt --steps 1 --optim gd --seed 123456789 --lr 0.12345678 -q >/dev/null
"$MUSTER" model show n.txt | grep -o 'lr [^,]*\|seed [^,]*'
rm n.txt n.txt.card.*
echo "--- rows that were watched are no test set"
seq 40 | awk '{ print $1 * 7 % 11 "," $1 % 2 }' >rows.csv
"$MUSTER" train rows.csv v.txt --valid 0.2 -q >/dev/null
"$MUSTER" model show v.txt | grep -o '^test\|^valid\|^train '
rm v.txt v.txt.card.json rows.csv
echo "--- the card of another model, and what is no card"
cp m.txt.card.json other.card.json
sed 's/^bias 1/bias 2/' m.txt >other
"$MUSTER" model show other | grep -c trained
"$MUSTER" model show other | tail -n 1
"$MUSTER" model show other --format json | python3 -c '
import json, sys
said = json.load(sys.stdin)
print("card" in said, said["card_remark"])'
for no in '{}' 'precious' '{"model_card"'; do
    echo "$no" >kept.card.json
    "$MUSTER" train gen:gmm:400,3 kept --steps 1 -q 2>&1 >/dev/null
    cat kept.card.json
done
rm kept.card.*
for no in 'model card ' 'model card kept
sha256     77' 'precious'; do
    echo "$no" >kept.card.txt
    "$MUSTER" train gen:gmm:400,3 kept --steps 1 -q 2>&1 >/dev/null
    cat kept.card.txt
    "$MUSTER" model show kept | grep -c trained
done
"$MUSTER" train gen:gmm:400,3 - --steps 1 -q | head -n 1
ls
echo "--- what is under its name is neither waited for nor followed"
train() { timeout 60 "$MUSTER" train gen:gmm:400,3 odd --steps 1 -q 2>&1 >/dev/null || echo "exit $?"; }
mkfifo odd.card.json
train
timeout 60 "$MUSTER" model show odd | grep -c trained
rm odd.card.json
mkdir odd.card.json
train
rmdir odd.card.json
cp m.txt.card.json before
ln -s m.txt.card.json odd.card.json
train
cmp before m.txt.card.json
ln -sf nowhere odd.card.json
train
ls nowhere 2>/dev/null
rm odd.card.json
echo "--- who may not read the model may not read the card"
chmod 600 odd
train
"$MUSTER" model convert odd odd.npy
stat -c '%a %n' odd odd.card.json odd.card.txt odd.npy
chmod 640 odd
train
stat -c '%a %n' odd odd.card.json
echo "--- a name that leaves no room"
long=$(printf '%0250d' 7)
"$MUSTER" train gen:gmm:400,3 $long --steps 1 -q 2>&1 >/dev/null | sed "s/$long/LONG/"
ls | grep -c "^$long"
echo "--- the card of a model that is written over goes with it"
cp m.txt was
cp m.txt.card.json was.card.json
cp m.txt.card.txt was.card.txt
"$MUSTER" model convert odd was
ls was.card.* 2>/dev/null
echo notes >was.card.json
echo words >was.card.txt
"$MUSTER" model convert odd was
cat was.card.json was.card.txt
echo "--- a name of two lines is one line of the card"
"$MUSTER" train gen:gmm:400,3 "$(printf 'a\n\033b')" --steps 1 -q 2>&1 >/dev/null
head -n 2 a*card.txt | cut -c1-20
