# Columns that slow a training are named as their file names them, and what is
# advised is possible there.
# 12 rows: label, one to drop, seconds far from 0, a little one.
awk 'BEGIN { for (i = 0; i < 12; i++) { s = (i * 7) % 12
    print (i % 2) "," i "," 1700000000 + s "," s / 8 > "far.csv"
    print (i % 2) " 0:" s / 8 " 1:" 1700000000 + s > "far.svm"
    print (i % 2) " 1:" s / 8 + 1 " 2:" s * 1e7 + 1 > "uneven.svm" } }'
# A column of zeros is of no size; one that is 0 of some rows is not far from it.
awk 'BEGIN { for (i = 0; i < 12; i++) { s = (i * 7) % 12
    print 0 "," s * 1e7 "," s / 8 "," i % 2 > "zeros.csv"
    print (i % 3 ? 1700000000 + s : 0) "," s / 8 "," i % 2 > "some.csv" } }'
slow() { "$MUSTER" train "$@" --optim lbfgs --steps 1 | grep 'slows it'; }
slow far.csv --label 1 --drop 2
slow far.svm
slow uneven.svm
slow zeros.csv
slow some.csv
"$MUSTER" train - --input libsvm --zero-based --steps 1 <far.svm 2>&1 | grep 'precision'
