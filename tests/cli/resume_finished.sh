# A run that is over writes no newer model over: only where its own is still
# there, or nothing, or where it is told to.
printf '1 1:1\n-1 1:2\n' >a.svm
printf '1 1:1 2:3\n-1 1:2 2:5\n' >w.svm
"$MUSTER" train a.svm m -n 2 --out run --optim gd --steps 3 -q >first.txt
cp m own
"$MUSTER" train --resume=run 2>&1 >/dev/null | tail -1
cmp m own && echo "its own stays"
rm m
"$MUSTER" train --resume=run -q | grep saved
cmp m own && echo "written again"
"$MUSTER" train w.svm m -q | grep saved
cp m newer
"$MUSTER" train --resume=run -q 2>&1 >refused.txt
echo "status $?"
grep -c saved refused.txt
cmp m newer && echo "the newer one stays"
"$MUSTER" train --resume=run --save other -q | grep saved
cmp other own && echo "written elsewhere"
"$MUSTER" train --resume=run --force -q | grep saved
cmp m own && echo "written over"
# More steps are another matter, where the model is its own.
"$MUSTER" train --resume=run --steps 5 -q | grep saved
cmp -s m own || echo "gone on with"
# What a run trains is said in its folder: a network's name is a network's.
"$MUSTER" train w.svm -n 2 --net dense2 --passes 1 --out net -q >/dev/null
"$MUSTER" train --resume=net --save net.safetensors -q | grep saved
"$MUSTER" train --resume=net --save net.csv 2>&1 | cut -d';' -f1
"$MUSTER" train --resume=run --save run.safetensors 2>&1 | cut -d';' -f1
