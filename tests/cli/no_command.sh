# Usage belongs on standard error; there is no result.
"$MUSTER"
