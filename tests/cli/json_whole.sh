# Both streams in one file, as batch systems have them: a long object is whole,
# and what is said of it stands behind.
"$MUSTER" train gen:gmm:200,5 -n 2 --steps 60 --optim gd --accuracy 0 --out run --format json >log 2>&1
sed -n '/^{/,/^}/p' log | grep -c muster:
sed -n '/^}/,$p' log
