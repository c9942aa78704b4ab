"$MUSTER" train nowhere.svm
