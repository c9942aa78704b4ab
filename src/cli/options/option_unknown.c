/*
 * option_unknown.c - what is no option here: the one that was meant, or what to
 * do instead.
 */
#include "cli/options/options.h"

#include <string.h>

#include "base/nearest.h"
#include "code/preset.h"

#define NAME_MAX_BYTES 48u

/* tr spoils a file whose fields commas separate, too. */
#define COMMAS                                                                 \
    "numbers are written with points; where no other comma is in the file, "   \
    "`tr , . <OLD >NEW` writes them so"

/* What other programs call it. */
static const struct foreign {
    const char *name;
    int id;
} foreign[] = {
    {"lambda", OPT_L2},
    {"alpha", OPT_L2},
    {"reg", OPT_L2},
    {"target", OPT_LABEL},
    {"target-column", OPT_LABEL},
    {"target-col", OPT_LABEL},
    {"label-column", OPT_LABEL},
    {"label-col", OPT_LABEL},
    {"y-col", OPT_LABEL},
    {"class-column", OPT_LABEL},
    {"y", OPT_LABEL},
    {"early-stopping", OPT_PATIENCE},
    {"n-iter-no-change", OPT_PATIENCE},
    {"validation-fraction", OPT_VALID},
    {"validation-split", OPT_VALID},
    {"valid-split", OPT_VALID},
    {"val-split", OPT_VALID},
    {"validation", OPT_VALID},
    {"val", OPT_VALID},
    {"hidden-layer-sizes", OPT_NET},
    {"hidden-layers", OPT_NET},
    {"hidden-units", OPT_NET},
    {"hidden", OPT_NET},
    {"layers", OPT_NET},
    {"num-round", OPT_STEPS},
    {"eval-metric", OPT_METRIC},
    {"scoring", OPT_METRIC},
    {"iterations", OPT_STEPS},
    {"iter", OPT_STEPS},
    {"learning-rate", OPT_LR},
    {"eta", OPT_LR},
    {"optimizer", OPT_OPTIM},
    {"cv", OPT_FOLDS},
    {"k-fold", OPT_FOLDS},
    {"sep", OPT_SEPARATOR},
    {"delimiter", OPT_SEPARATOR},
    {"delim", OPT_SEPARATOR},
    {"random-state", OPT_SEED},
    {"n-jobs", OPT_THREADS},
    {"jobs", OPT_THREADS},
    {"j", OPT_THREADS},
    {"test-size", OPT_VALID},
    {"sample-weight", OPT_WEIGHT},
    {"w", OPT_CLASS_WEIGHT},
    {"na-values", OPT_MISSING},
    {"impute", OPT_MISSING},
    {"normalize", OPT_SCALE},
    {"standardize", OPT_SCALE},
    {"one-hot", OPT_CATEGORICAL},
    {"ignore", OPT_DROP},
    {"exclude", OPT_DROP},
    {"o", OPT_SAVE},
    {"output", OPT_SAVE},
    {"model-out", OPT_SAVE},
    {"i", OPT_DATA},
    {"d", OPT_DATA},
    {"f", OPT_DATA},
    {"file", OPT_DATA},
    {"train", OPT_DATA},
    {"o", OPT_PREDICTIONS},
    {"output", OPT_PREDICTIONS},
    {"m", OPT_MODEL_FILE},
    {"m", OPT_MODEL},
    {"proba", OPT_PROBABILITY},
};

/* What is no single option here. */
static const struct hint {
    const char *name;
    int id; /* For commands that take this one. */
    const char *text;
} hints[] = {
    {"penalty", OPT_L2, "--l2 is that of squares, and there is no L1"},
    {"l1", OPT_L2, "--l2 is the penalty of squares, and there is no L1"},
    {"l1-ratio", OPT_L2, "--l2 is the penalty of squares, and there is no L1"},
    {"kernel", OPT_MODEL, "there are linear models and networks (--net)"},
    {"n-estimators", OPT_MODEL, "there are linear models and networks (--net)"},
    {"max-depth", OPT_MODEL, "there are linear models and networks (--net)"},
    {"max-iter", OPT_STEPS,
     "--steps N makes N updates of the model; of networks, --passes N goes N "
     "times over the rows, as MLPClassifier's max_iter does"},
    {"dropout", OPT_NET,
     "it is a layer, as in --net \"dense64 relu drop.5 dense2\""},
    {"activation", OPT_NET,
     "it is a layer, as in --net \"dense64 relu dense2\": relu, tanh or "
     "sigmoid"},
    {"gpu", OPT_THREADS, "processors compute, with --threads N each worker"},
    {"device", OPT_THREADS, "processors compute, with --threads N each worker"},
    {"fit-intercept", OPT_NO_INTERCEPT,
     "an intercept is learnt unless --no-intercept is given"},
    {"verbose", OPT_QUIET, "-q says less, and nothing says more"},
    {"decimal", OPT_SEPARATOR, COMMAS},
    {"thousands", OPT_SEPARATOR,
     "numbers are written without marks between thousands: 12500"},
    {"index-col", OPT_DROP,
     "--drop COLUMN leaves a column out (:1 is the first)"},
    {"usecols", OPT_DROP, "--drop COLUMN,... names those to leave out"},
    {"features", OPT_DROP, "--drop COLUMN,... names those to leave out"},
    {"encoding", OPT_SEPARATOR,
     "text is UTF-8; `iconv -f latin1 -t utf-8 OLD >NEW` makes it so"},
    {"skiprows", OPT_SEPARATOR,
     "`tail -n +3 FILE | muster train - --input csv` leaves out two lines"},
    {"nrows", OPT_SEPARATOR,
     "`head -n 1001 FILE | muster train - --input csv` reads 1000 rows"},
    {"stratify", OPT_VALID, "rows to hold out are drawn from --seed"},
    {"nproc-per-node", OPT_N, "-n starts workers on this machine"},
    {"ntasks", OPT_N,
     "-n starts workers on this machine, `muster launch slurm` on others"},
    {"hostfile", OPT_N, "`muster launch ssh` starts workers on other machines"},
    {"hosts", OPT_N,
     "`muster launch ssh --hosts` starts workers on other machines"},
};

/* The option, by this one of its names. */
static enum err suggest(const char *typed, int id, const char *name,
                        struct why *why)
{
    const struct option *row = option_row(id);

    if (id == OPT_DATA || id == OPT_PREDICTIONS || id == OPT_MODEL_FILE)
        return why_set(why, ERR_UNKNOWN,
                       "no option %s%.*s; %s is named without a flag, see "
                       "--help",
                       option_dashes(typed), (int)NAME_MAX_BYTES, typed,
                       row->value);
    return why_set(why, ERR_UNKNOWN, "no option %s%.*s; did you mean %s%s?",
                   option_dashes(typed), (int)NAME_MAX_BYTES, typed,
                   option_dashes(name), name);
}

static bool reads_file(const struct preset *preset)
{
    return (preset_traits(preset->name) & TRAIT(MATRIX)) != 0;
}

/* A setting of codes, or a code: neither is a flag of its own. */
static enum err suggest_code(const char *typed, struct why *why)
{
    uint32_t count;
    const struct preset *list = preset_list(&count);
    int key = 0;

    while (key < PRESET_KEYS &&
           nearest_distance(typed, preset_key_name((enum preset_key)key)) != 0)
        key++;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(typed, list[i].name) == 0)
            return why_set(why, ERR_UNKNOWN,
                           "no option --%s; it is a code: --code %s, and "
                           "`muster codes %s` has its settings",
                           typed, typed, typed);
        if (key < PRESET_KEYS && (list[i].keys >> key & 1) != 0)
            return why_set(why, ERR_UNKNOWN,
                           "no option %s%s; it is a setting of a code, as in "
                           "--code %s%s:%s=VALUE (%s)",
                           option_dashes(typed), typed, list[i].name,
                           reads_file(&list[i]) ? ":FILE" : "",
                           preset_key_name((enum preset_key)key),
                           preset_key_help((enum preset_key)key));
    }
    return ERR_OK;
}

enum err option_unknown(const struct options *options, const char *typed,
                        struct why *why)
{
    int best = OPTIONS;
    char name[OPTION_NAME_SIZE];
    size_t limit = nearest_limit(typed);

    if (strcmp(typed, "C") == 0 && option_takes(options, OPT_GRID))
        return why_set(why, ERR_UNKNOWN,
                       "no option -C; scikit-learn's C is --l2 1/(2 C rows); "
                       "--grid l2=0.001,0.01,0.1 finds a good penalty; -c and "
                       "--grid c=0.1,1,10 are LIBLINEAR's "
                       "cost, without an intercept unless -B 1 is given");
    if (strcmp(typed, "version") == 0)
        return why_set(why, ERR_UNKNOWN,
                       "no option --version here; `muster --version` tells");

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (option_takes(options, hints[i].id) &&
            nearest_distance(typed, hints[i].name) == 0)
            return why_set(why, ERR_UNKNOWN, "no option --%s; %s", typed,
                           hints[i].text);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (option_takes(options, foreign[i].id) &&
            nearest_distance(typed, foreign[i].name) == 0)
            return suggest(typed, foreign[i].id,
                           option_row(foreign[i].id)->name, why);
    if (option_takes(options, OPT_CODE) &&
        suggest_code(typed, why) == ERR_UNKNOWN)
        return ERR_UNKNOWN;
    for (int i = 0; i < OPTIONS; i++) {
        const int id = option_uses()[i].id;
        char near[OPTION_NAME_SIZE];
        const size_t far = option_nearest(option_row(id), typed, near);

        if (option_takes(options, id) && far <= limit &&
            (best == OPTIONS || far < limit)) {
            best = id;
            limit = far;
            memcpy(name, near, sizeof name);
        }
    }
    if (best < OPTIONS)
        return suggest(typed, best, name, why);
    return why_set(why, ERR_UNKNOWN, "no option %s%.*s; --help lists them",
                   option_dashes(typed), (int)NAME_MAX_BYTES, typed);
}
