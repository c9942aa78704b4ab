# Without data there is nothing to learn: it says what to do, and writes none.
"$MUSTER" train 2>&1
echo "exit $?"
"$MUSTER" train --label y --save model 2>&1
echo "exit $?"
ls
