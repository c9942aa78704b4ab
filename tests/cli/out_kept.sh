# A run's folder may be one that has other files, but none of a name that a run
# writes over or removes: such a file is not ours to lose.
begin() { "$MUSTER" "$@" -q 2>&1 >/dev/null; echo "exit $?"; }
rows() { printf '1 1:1\n-1 1:-1\n1 1:2\n-1 1:-2\n'; }
gd='--model logistic --optim gd --lr .1 --steps 2'
for name in config facts result address checkpoint.0 search.json scores-0-0 w0
do
    mkdir "$name.d"
    rows >"$name.d/$name"
    begin train "$name.d/$name" $gd --out "$name.d"
    rows | cmp - "$name.d/$name" && ls "$name.d"
done
cd result.d
begin train result $gd -n 2 --out .
begin train result $gd -n 2 --topology ring --out .
begin train result $gd -n 2 -v 2 --out .
rows | cmp - result && ls
cd ..
# So has every name that a run or a search leaves in its folder, of any number.
rows >rows.svm
begin train rows.svm $gd --out of_one
begin train rows.svm $gd -n 2 --out of_star
begin train rows.svm $gd -n 2 --topology ring --out of_ring
begin train rows.svm $gd -n 2 -v 2 --out of_search
for name in $(ls of_one of_star of_ring of_search | grep -v ':$' | sort -u) \
    scores-7-12 w31 history.9.json trial-3-4 parts launch.lock reading \
    rank0 rank0.over coordinator.sbatch workers.sbatch coordinator over
do
    mkdir "of.$name"
    echo mine >"of.$name/$name"
    "$MUSTER" train rows.svm $gd --out "of.$name" -q >/dev/null 2>&1 ||
        echo "$name: refused"
    [ "$(cat "of.$name/$name")" = mine ] && [ "$(ls "of.$name")" = "$name" ] ||
        echo "$name: lost, or not alone"
done
# What has other names stays, and a folder that a run has left is begun anew.
mkdir mine
rows | tee mine/rows.svm >mine/notes
begin train mine/rows.svm $gd --out mine
rows | cmp - mine/notes && echo "notes are as before"
mkdir left left2
: >left/lock
: >left/reading
begin train mine/rows.svm $gd --out left
echo 4 >left2/format
: >left2/config
begin train mine/rows.svm $gd --out left2
# A mark is known by what it says: a number, and one that there is.
for text in png 4x 0 9999 '4
of mine'
do
    rm -rf marked
    mkdir marked
    echo "$text" >marked/format
    echo mine >marked/config
    begin train mine/rows.svm $gd --out marked
    cat marked/config
done
# An empty lock, which anybody may have, is no mark.
mkdir locked
: >locked/lock
echo mine >locked/config
begin train mine/rows.svm $gd --out locked
cat locked/config
# A key is not lost either: it is used, or the run is refused.
mkdir key
"$MUSTER" token new key/run.token >/dev/null
"$MUSTER" token new other.token >/dev/null
cp key/run.token kept.token
begin train mine/rows.svm $gd -n 2 --token-file other.token --out key
cmp key/run.token kept.token && begin train mine/rows.svm $gd -n 2 --out key
cmp key/run.token kept.token && echo "the key is as before"
# A way that leads there only once a folder has been made.
mkdir there
echo mine >there/config
begin train mine/rows.svm $gd --out nowhere/../there
cat there/config
ls -d nowhere 2>/dev/null
begin train mine/rows.svm $gd --out there/../fresh
begin train mine/rows.svm $gd --out ../"${PWD##*/}"/there/../fresh2
