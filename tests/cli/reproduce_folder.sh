# Where `reproduce` writes: not into the system's folders, nor through links and
# pipes; a name that no JSON can hold is refused; and the words on a page are
# those that it was made with.
try() {
    timeout 20 "$MUSTER" reproduce prices --quick --virtual -q "$@" >out.txt 2>&1
    status=$?
    sed "s:$PWD:PWD:" out.txt
    echo "exit $status"
}
odd=$(printf 'o\377')
mkdir "$odd" raw held
try --raw "$odd" --to out
try --to "$odd"
try --to "$odd" --format json
try --to /etc
try --to /
ln -s /etc away
try --to away
ln -s ../raw held/prices
try --to held
ls raw
mkdir -p pipe/prices hard/prices
mkfifo pipe/prices/run-1.json
try --to pipe
echo mine >kept
ln kept hard/prices/run-1.json
ln -s ../../kept hard/prices/index.html
try --to hard --raw raw >/dev/null
cat kept
grep -o '<code>muster [^<]*<' hard/prices/index.html
timeout 60 "$MUSTER" reproduce prices,gradient-coding --quick --virtual -q \
    --raw raw --to two >/dev/null
grep '`muster reproduce' two/results.md
