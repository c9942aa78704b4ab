# What is advised where flexent has too few workers is taken.
exec 2>&1
flexent() { "$MUSTER" train gen:gmm:200,4 --steps 1 -q "$@" | sed 's/^objective .*/taken/' | grep -e muster: -e taken; }
flexent -n 1 --code flexent
flexent -n 2 --code flexent
flexent -n 2 --code flexent --stragglers 0
flexent -n 3 --code flexent
flexent -n 6 --code flexent --stragglers 5
flexent -n 6 --code flexent --stragglers 4
flexent -n 4 --code flexent:shadows=3
flexent -n 4 --code flexent:shadows=2
flexent -n 3 --code flexent:shadows=3
