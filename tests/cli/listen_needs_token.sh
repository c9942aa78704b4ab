# Nothing may be made before it is refused.
"$MUSTER" train gen:gmm:100,4 -n 2 --listen 0.0.0.0:7731
status=$?
ls
exit $status
