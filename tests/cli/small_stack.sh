# What is too small for it is said; what is not is enough, in children too.
hash() {
    "$MUSTER" train gen:gmm:2000,10 --steps 30 -q "$@" | grep ^model
}
(ulimit -s 128; "$MUSTER" train gen:gmm:2000,10 --steps 30) 2>&1
echo "exit $?"
wanted=$(hash)
(ulimit -s 256; test "$(hash)" = "$wanted" && echo "256 KiB: the same model")
(ulimit -s 256; test "$(hash -n 2)" = "$wanted" && echo "... of two workers")
# A search forks its coordinators from deeper in.
table() {
    "$MUSTER" train gen:gmm:2000,10 --steps 30 -q -v 2 "$@" | grep -v ^steps
}
wanted=$(table -n 2)
(ulimit -s 256; test "$(table -n 2)" = "$wanted" && echo "... of folds on workers")
wanted=$(table -n 2 --grid l2=0.1,0.01)
(ulimit -s 256; test "$(table -n 2 --grid l2=0.1,0.01)" = "$wanted" &&
    echo "... of a grid")
