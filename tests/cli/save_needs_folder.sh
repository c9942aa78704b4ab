printf '1 1:1\n-1 1:2\n' >a.svm
"$MUSTER" train a.svm nowhere/model.txt
