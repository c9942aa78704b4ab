# What users of Keras, PyTorch and MLPClassifier type around a network.
for words in "--hidden 32,16" "--hidden-units 3" "--layers 3" "--validation-split .2" "--valid-split .2" --val=.2 \
	"--max-iter 200" "--loss crossentropy" "--loss CrossEntropyLoss" "--loss sparse_categorical_crossentropy" \
	"--loss MSELoss" "--optimizer SGD" "--optim SGD"; do
	"$MUSTER" train gen:gmm:40,3 --net dense2 -q $words 2>&1
done
