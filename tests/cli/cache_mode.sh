# The copy in the cache is for nobody else; rows that are held out from LIBSVM
# text come from it, too.
awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2, "1:" i / 40 }' >t.svm
"$MUSTER" train t.svm --cache c -v 2 -q >/dev/null 2>&1
find c -type f -printf '%m\n' | sort | uniq -c | awk '{ print ($1 > 0), $2 }'
