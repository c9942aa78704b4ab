printf '1 1:1\n1 1:2\n' >a.svm
"$MUSTER" train a.svm
