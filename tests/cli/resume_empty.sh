# A folder after --resume is the run's, never the data, whatever is in it.
mkdir empty
"$MUSTER" train --resume empty
echo "status $?"
"$MUSTER" train gen:gmm:100,2 --resume empty
