# What is too small for it is said; what is not is enough, in children too.
hash() {
    "$MUSTER" train gen:gmm:2000,10 --steps 30 -q "$@" | grep ^model
}
(ulimit -s 128; "$MUSTER" train gen:gmm:2000,10 --steps 30) 2>&1
echo "exit $?"
wanted=$(hash)
(ulimit -s 256; test "$(hash)" = "$wanted" && echo "256 KiB: the same model")
(ulimit -s 256; test "$(hash -n 2)" = "$wanted" && echo "... of two workers")
