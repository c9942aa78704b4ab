/*
 * foreign.c - values as other programs call them.
 *
 * Not aliases: most of them mean something that is nearly the same here, and
 * who reads the sentence learns the difference (the penalty of Ridge, that a
 * network is no --model).  A word that ends in * stands for all that begin so.
 */
#include "learn/recipe/foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "learn/recipe/recipe.h"

#define NETWORK                                                                \
    "instead of --model write --net with the layers, as in --net "             \
    "\"dense100 relu dense2\" for two classes"

static const struct foreign {
    int id;
    const char *words; /* "a|b|c", in any case. */
    const char *advice;
} list[] = {
    {OPT_MODEL, "LogisticRegression|LogisticRegressionCV|logit|binary",
     "write logistic (two classes) or softmax (more)"},
    {OPT_MODEL, "multinomial|multiclass|categorical", "write softmax"},
    {OPT_MODEL, "LinearRegression|OLS",
     "write --model linear --l2 0, which has no penalty either"},
    {OPT_MODEL, "Ridge|RidgeCV",
     "write --model linear --l2 A, where A is Ridge's alpha / rows"},
    {OPT_MODEL, "regression|least-squares", "write linear"},
    {OPT_MODEL, "Lasso*|ElasticNet*|Lars*",
     "there is no L1 penalty; --model linear --l2 A has that of squares"},
    {OPT_MODEL, "LinearSVC", "write svm (squared hinge, as LinearSVC has it)"},
    {OPT_MODEL, "SVC|NuSVC|libsvm",
     "there are no kernels; svm is the linear one (squared hinge)"},
    {OPT_MODEL, "SVR|LinearSVR|NuSVR|Huber*|Quantile*",
     "least squares is the only loss of numbers; write linear"},
    {OPT_MODEL, "SGDClassifier",
     "write hinge, svm or logistic, and --optim sgd or --batch B"},
    {OPT_MODEL, "SGDRegressor", "write linear, and --optim sgd or --batch B"},
    {OPT_MODEL, "RidgeClassifier*|Perceptron|PassiveAggressive*",
     "there is no such loss; logistic and svm are near to it"},
    {OPT_MODEL, "MLPClassifier|mlp|cnn|nn|ann|dnn|net|network|neural*",
     NETWORK},
    {OPT_MODEL, "MLPRegressor",
     "instead of --model write --net with the layers, as in --net \"dense100 "
     "relu dense1\""},
    {OPT_MODEL,
     "RandomForest*|GradientBoosting*|HistGradientBoosting*|DecisionTree*|"
     "ExtraTrees*|AdaBoost*|xgb*|lightgbm|lgbm*|catboost*|tree|gbtree|"
     "KNeighbors*|knn|*NB",
     "there are linear models and networks (--net), and no others"},
    {OPT_OPTIM, "liblinear|newton-cg|newton-cholesky|trust*",
     "write newton, which is the default where it can be"},
    {OPT_OPTIM, "sag|saga|asgd",
     "write sgd (row after row), or leave it out for the exact optimum"},
    {OPT_OPTIM, "SGD", /* As Keras and PyTorch have it: sgd is a choice. */
     "write gd, momentum or nesterov for a network, whose steps are of "
     "batches; "
     "sgd, row after row, is for linear models"},
    {OPT_OPTIM, "bfgs|l-bfgs|l-bfgs-b", "write lbfgs"},
    {OPT_OPTIM, "rmsprop|adagrad|adadelta|nadam|radam|adamax", "write adam"},
    {OPT_LOSS,
     "log|log-loss|logloss|logistic|cross-entropy|bce|"
     "binary-crossentropy|categorical-crossentropy|nll|crossentropy|"
     "crossentropyloss|sparse-categorical-crossentropy|bceloss|"
     "bcewithlogitsloss|nllloss",
     "--model logistic (two classes) or softmax (more) has that loss, and "
     "networks that tell classes apart"},
    {OPT_LOSS, "mse|mseloss|squared-error|squared-loss|l2|least-squares",
     "--model linear has that loss, networks of numbers too"},
    {OPT_LOSS,
     "mae|l1|absolute-error|huber|epsilon-insensitive|"
     "squared-epsilon-insensitive",
     "least squares (--model linear) is the only loss of numbers"},
    {OPT_SCALE, "StandardScaler|zscore|z-score|standardize|std|yes|true",
     "write standard (mean 0, deviation 1)"},
    {OPT_SCALE, "MinMaxScaler|min-max|normalize", "write minmax (0 to 1)"},
    {OPT_MISSING, "drop|dropna|skip|ignore",
     "rows are not left out by it; write mean, median or zero to fill them, "
     "or leave the column out with --drop"},
    {OPT_MISSING, "constant|0|fillna", "write zero"},
    {OPT_MISSING, "most-frequent|mode|ffill|bfill|knn|interpolate",
     "write mean, median, zero or indicator"},
    {OPT_METRIC, "acc", "write accuracy"},
    {OPT_METRIC, "roc-auc|auroc|roc", "write auc"},
    {OPT_METRIC, "log-loss|neg-log-loss|cross-entropy|loss", "write logloss"},
    {OPT_METRIC, "rmse|mae|neg-mean-squared-error|mean-squared-error",
     "write mse, the mean of squared errors"},
    {OPT_METRIC, "f1-score|f1-macro|f1-micro", "write f1"},
    {OPT_HEADER, "0|true|first", "write yes, if the first line is names"},
    {OPT_HEADER, "none|false", "write no, if the first line is a row"},
    {OPT_SCHEDULE, "invscaling", "write inverse"},
    {OPT_SCHEDULE, "exponential", "write --schedule decay --decay FACTOR"},
    {OPT_SCHEDULE, "steplr|multistep", "write step"},
    {OPT_SCHEDULE, "cosineannealing*", "write cosine"},
    {OPT_SHUFFLE, "yes|true|1", "it is the default: leave it out"},
};

/* Is the word, `length` bytes of "a|b*|*c", what was typed? */
static bool spells(const char *word, size_t length, const char *text)
{
    const size_t typed = strlen(text);
    const char *from = text;
    char mine[NEAREST_MAX_BYTES], theirs[NEAREST_MAX_BYTES];

    if (typed >= sizeof theirs)
        return false;
    if (word[length - 1] == '*') {
        length--;
    } else if (word[0] == '*') {
        word++;
        length--;
        if (typed < length)
            return false;
        from += typed - length;
    } else if (typed != length) {
        return false;
    }
    (void)snprintf(mine, sizeof mine, "%.*s", (int)length, word);
    (void)snprintf(theirs, sizeof theirs, "%.*s", (int)length, from);
    return nearest_distance(mine, theirs) == 0;
}

static bool among(const char *words, const char *text)
{
    for (const char *at = words; *at != '\0';) {
        const size_t length = strcspn(at, "|");

        if (spells(at, length, text))
            return true;
        at += length + (at[length] == '|');
    }
    return false;
}

const char *foreign_value(const struct option *row, const char *text)
{
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (recipe_row(list[i].id) == row && among(list[i].words, text))
            return list[i].advice;
    return NULL;
}
