# Twice the weight is the row twice; -w is --class-weight; balanced is arithmetic.
printf '+1 1:1 2:0.5\n-1 1:-1 2:1\n-1 2:2\n-1 1:0.5\n' >a.svm
grep '^+' a.svm >twice.svm
cat a.svm >>twice.svm
objective() { "$MUSTER" train "$@" --steps 30 --format json |
         sed -n 's/.*"objective": \([0-9.]*\),.*/\1/p'; }
a=$(objective a.svm --class-weight 1=2 --l2 0.25)
b=$(objective a.svm -w1 2 --l2 0.25)
c=$(objective a.svm --l2 0.25)
[ "$a" = "$b" ] && [ "$a" != "$c" ] && echo "-w1 2 is --class-weight 1=2"
[ "$(objective a.svm --class-weight balanced)" = \
  "$(objective a.svm --class-weight 1=2,-1=0.66666666666666663)" ] &&
    echo "balanced is N / (2 rows of the label)"
python3 - "$(objective a.svm -w1 2 -s 0 -e 1e-12)" "$(objective twice.svm -s 0 -e 1e-12)" \
    <<'END'
import sys
a, b = map(float, sys.argv[1:])
print("twice the weight, twice the row", abs(a - b) < 1e-9 * b)
END
one=$("$MUSTER" train a.svm -w1 2 --chunk-rows 1 --format json | grep '"hash"')
two=$("$MUSTER" train a.svm -w1 2 --chunk-rows 1 -n 2 -q --format json |
      grep '"hash"')
[ "$one" = "$two" ] && echo "one process, two workers: same bits"
# Words are labels, too.
printf 'x,y\n1,yes\n2,no\n3,yes\n4,no\n5,no\n' >t.csv
[ "$(objective t.csv --class-weight yes=5)" != "$(objective t.csv)" ] &&
    echo "yes=5 weighs"
"$MUSTER" train t.csv --class-weight maybe=5 2>&1; echo "exit $?"
