"$MUSTER" train nowhere.svm --format json
echo "status $?"
"$MUSTER" train --format=json --stps 3
echo "status $?"
