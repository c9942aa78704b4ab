# --init reads rows as prediction does: columns by their names, scaled as the
# saved model's were, labels its labels; what does not fit is refused.
python3 - <<'END'
import random
random.seed(3)
words = ["low", "high"]
with open("a.csv", "w") as a, open("b.csv", "w") as b, open("c.csv", "w") as c:
    print("size,weight,colour,kind", file=a)
    print("kind,colour,weight,extra,size", file=b)
    print("size,colour,kind", file=c)
    for i in range(200):
        size, weight = random.gauss(1000, 300), random.gauss(0, .01)
        colour = random.choice(["red", "blue"])
        kind = words[(size - 1000) / 300 + weight / .01 + (colour == "red") > .5]
        print(f"{size:.3f},{weight:.6f},{colour},{kind}", file=a)
        print(f"{kind},{colour},{weight:.6f},{i % 7},{size:.3f}", file=b)
        print(f"{size:.3f},{colour},{kind}", file=c)
with open("d.csv", "w") as d:
    print(open("a.csv").read().replace("low", "middle"), end="", file=d)
END
quiet() { "$MUSTER" train "$@" -q --format json 2>/dev/null; }
hash() { sed -n 's/.*"hash": "\(.\{12\}\).*/\1/p'; }
stay="--lr 1e-300 --schedule constant --passes 1"
quiet a.csv one.safetensors --scale standard --net "dense8 relu dense2" --lr .05 --passes 20 | hash >first
"$MUSTER" predict a.csv one.safetensors a.txt >/dev/null
echo "--- other places, another column between them, no --net: the same weights mean the same"
for rows in a.csv b.csv; do
	quiet $rows $rows.safetensors --init one.safetensors $stay | hash | cmp - first && echo "begins there"
	"$MUSTER" predict b.csv $rows.safetensors b.txt --force >/dev/null 2>&1
	cmp a.txt b.txt && echo "says the same"
done
quiet b.csv --init one.safetensors $stay --valid .2 | hash | cmp - first && echo "rows held out change nothing"
"$MUSTER" train b.csv two.safetensors --init one.safetensors --passes 2 2>&1 >/dev/null | cut -c 1-100
echo "--- linear models"
for model in logistic svm softmax; do
	quiet a.csv line --scale standard --model $model | hash >optimum
	quiet b.csv --init line --optim adam $stay --batch 50 | hash | cmp - optimum && echo "$model begins there"
	quiet b.csv --init line --optim gd --steps 1 --lr 1e-300 -n 2 | hash | cmp - optimum && echo "so with workers"
	quiet b.csv --init line | tr -d '\n ' | grep -o '"steps":[01],' | sed 's/[01]/few/'
done
echo "--- labels in another order, as LIBLINEAR met them"
printf 'solver_type L2R_LR\nnr_class 2\nlabel 0 1\nnr_feature 2\nbias -1\nw\n3\n-2\n' >turned
printf '0 1:1\n1 2:1\n0 1:2\n1 2:2\n' >two.svm
quiet two.svm out --init turned --optim gd --lr 1e-300 --steps 1 --no-intercept >/dev/null && grep -A 9 label out
echo "--- what does not fit"
for how in "c.csv --init one.safetensors" "d.csv --init one.safetensors" "a.csv --init one.safetensors --scale standard" \
	"a.csv --init one.safetensors --drop size" "a.csv --init one.safetensors --model linear" "a.csv --init line --net dense2" \
	"a.csv --init line --model logistic" "a.csv --init line --no-intercept" "a.csv --init line --optim sgd" "a.csv --init line -v 3" \
	"a.csv out.txt --init one.safetensors" "a.csv --init one.safetensors --net dense2"; do
	"$MUSTER" train $how -q 2>&1
done
true
