# Values as scikit-learn and others call them are answered with what to write.
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n' >t.csv
say() { "$MUSTER" train t.csv "$@" 2>&1; }
for model in LogisticRegression LinearRegression Ridge lasso_cv LassoCV LinearSVC \
    SVC SVR SGDClassifier SGDRegressor Perceptron MLPClassifier MLPRegressor cnn \
    RandomForestClassifier xgboost GaussianNB multinomial regression Logistic far
do
    say --model $model
done
for words in "--optim saga" "--optim l_bfgs" "--optim newton-cg" "--optim rmsprop" \
    "--loss log_loss" "--loss mse" "--loss huber" "--scale StandardScaler" \
    "--scale normalize" "--missing dropna" "--missing most_frequent" \
    "--metric roc_auc" "--metric rmse" "--header 0" "--header None" \
    "--schedule invscaling" "--shuffle true"; do
    say $words
done
say --net 100,50
say --net "(100,)"
