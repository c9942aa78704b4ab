printf '+1 1:0.5\n-1 x:3\n' >b.svm
"$MUSTER" train b.svm
