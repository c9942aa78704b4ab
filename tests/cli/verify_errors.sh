# What --verify, --audit and --interface refuse, each in a sentence.
no() {
    "$MUSTER" train gen:gmm:400,5 "$@" 2>&1
    echo "exit $?"
}
no --verify
no -n 4 --verify --code cyclic
no -n 4 --verify --code mds
no -n 4 --audit 1% --code partial-cyclic
no -n 4 --verify --code ignore
no -n 4 --audit 1% --code sgc
no -n 4 --verify --code local:h=3
no -n 4 --verify --code auto --exact approx
no -n 4 --audit 101%
no -n 4 --audit often
no -n 4 --chaos lie:coordinator@3
no -n 2 --interface lo --listen localhost:1
no -n 2 --interface nope0 | sed 's/there are .*/there are .../'
