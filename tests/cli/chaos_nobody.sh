# A fault for somebody who is not here is said so, and the run goes on.
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 6 --code uncoded \
    --chaos kill:w9@3,stop:nobody@4+1 -q 2>&1 >/dev/null
# So is one for a step that never comes, whether it kills, lies or joins; of the
# last step it comes.
for topology in star ring
do
    "$MUSTER" train gen:gmm:200,4 -n 2 --topology $topology --steps 6 \
        --optim gd --lr .1 --chaos kill:w9@5,kill:w1@6,join@70 2>&1 >/dev/null |
        grep -e --chaos
done
"$MUSTER" train gen:gmm:200,4 -n 2 --steps 6 --optim gd --lr .1 --code uncoded \
    --chaos stop:w1@8+2,leave:w0@9,lie:w1@6 2>&1 >/dev/null | grep -e --chaos
