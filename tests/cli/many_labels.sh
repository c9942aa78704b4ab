printf '1 1:1\n2 1:2\n3 1:0\n' >a.svm
"$MUSTER" train a.svm
