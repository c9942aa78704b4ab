# Every command that writes: a device stays a device, a link a
# link, a mode a mode; `-` is standard output, with nothing else on it.
printf '1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n' >t.svm
"$MUSTER" train t.svm m.txt --model logistic --optim gd --steps 3 -q >/dev/null 2>&1
"$MUSTER" train t.svm -n 2 --model logistic --optim gd --steps 3 --out run -q >/dev/null 2>&1
mkdir targets
write() { # NAME PATH: the command's result goes there
    case $1 in
    train) "$MUSTER" train t.svm "$2" --model logistic --optim gd --steps 3 -q ;;
    predict) "$MUSTER" predict t.svm m.txt "$2" ;;
    convert) "$MUSTER" model convert m.txt "$2" ;;
    record) "$MUSTER" train t.svm -n 2 --model logistic --optim gd --steps 3 --chunk-rows 1 -q --out "$(mktemp -d run.XXXXXX)" --record "$2" ;;
    trace) "$MUSTER" simulate t.svm -n 2 --model logistic --optim gd --steps 3 --chunk-rows 1 --trace "$2" ;;
    report) "$MUSTER" report run --to "$2" ;;
    csv) "$MUSTER" simulate -n 4 --no-compute --steps 3 --csv "$2" ;;
    plot) "$MUSTER" simulate -n 4 --no-compute --steps 3 --plot "$2" ;;
    codes) "$MUSTER" codes frc -n 4 --stragglers 1 --plot "$2" ;;
    generate) "$MUSTER" plan generate "$2" -n 4 --steps 5 --delay exp:1 ;;
    esac
}
for name in train predict convert record trace report csv plot codes generate; do
    : >file && chmod 600 file
    ln -s targets/"$name" link
    for path in file link /dev/null; do
        write "$name" "$path" >/dev/null 2>err || { echo "$name $path fails:"; cat err; }
    done
    write "$name" - 2>/dev/null >out || echo "$name - fails"
    printf '%s: file %s, link %s, target %s, null %s' "$name" \
        "$(stat -c '%a %F' file)" "$(stat -c %F link)" \
        "$(stat -Lc %F link)" "$(stat -c %F /dev/null)"
    case $name in
    record | trace | report | generate) echo ", - $(head -c 9 out | tr '\n' ' ')" ;; # Times differ.
    *) cmp -s file out && echo ", - the same" ;;
    esac
    rm file link out
done
ls | grep tmp
# To the shell's own file by name.
"$MUSTER" predict t.svm m.txt shell >shell 2>/dev/null
grep -v metrics shell
# A file that may not be written is not replaced, though its folder would
# allow it (root may write all).
: >readonly && chmod 400 readonly
if [ "$(id -u)" = 0 ]; then echo "readonly: choose another place"; else
    "$MUSTER" predict t.svm m.txt readonly 2>&1 | sed 's/cannot be.*;//'
fi
"$MUSTER" model convert m.txt x.onnx 2>&1
echo "exit $?"
