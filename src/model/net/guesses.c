/*
 * guesses.c - layers as other programs call them, and what they are here.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/net/layer.h"

static const struct guess {
    const char *begins, *here; /* NULL: no layer, since the loss has it. */
} guesses[] = {
    {"softmax", NULL},       {"logsoftmax", NULL},
    {"log_softmax", NULL},   {"flatten", NULL},
    {"maxpool2d", "pool"},   {"avgpool2d", "avg"},
    {"maxpool", "pool"},     {"max_pool", "pool"},
    {"avgpool", "avg"},      {"avg_pool", "avg"},
    {"linear", "dense"},     {"fc", "dense"},
    {"dropout", "drop"},     {"conv2d", "conv"},
    {"logistic", "sigmoid"}, {"", ""}, /* Another case, or brackets. */
};

/* Widths alone, as scikit-learn has them: "100,50". */
static bool guess_widths(const char *lower, char hint[LAYER_HINT_SIZE])
{
    const size_t first = strspn(lower, "0123456789");

    if (first == 0 || lower[strspn(lower, "0123456789,")] != '\0')
        return false;
    (void)snprintf(hint, LAYER_HINT_SIZE,
                   "is no layer; write dense%.*s relu, and as the last "
                   "layer dense with an output for each class",
                   (int)first, lower);
    return true;
}

bool layer_guess(const char *word, char hint[LAYER_HINT_SIZE])
{
    char lower[NEURAL_TEXT_MAX] = "";
    size_t length_all = 0;

    for (; length_all + 1 < sizeof lower && *word != '\0'; word++)
        if (strchr("()", *word) == NULL)
            lower[length_all++] = (char)tolower((unsigned char)*word);
    if (guess_widths(lower, hint))
        return true;
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        const struct guess *const guess = &guesses[i];
        const size_t length = strlen(guess->begins);
        char here[2 * NEURAL_TEXT_MAX];

        if (strncmp(lower, guess->begins, length) != 0)
            continue;
        (void)snprintf(here, sizeof here, "%s%s",
                       guess->here != NULL ? guess->here : "", lower + length);
        if (guess->here == NULL)
            (void)snprintf(hint, LAYER_HINT_SIZE,
                           "is implied where it is needed; leave it out");
        else if (layer_is_one(here))
            (void)snprintf(hint, LAYER_HINT_SIZE, "is written %s", here);
        else
            continue;
        return true;
    }
    return false;
}
