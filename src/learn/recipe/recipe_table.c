/*
 * recipe_table.c - the choices of a training, a row each.
 */
#include "learn/recipe/recipe.h"

#include "base/check.h"
#include "core/homes.h"
#include "learn/recipe/value_check.h"
#include "model/net/neural.h"
#include "optim/optim.h"

#define COUNT_MAX 4294967295.0
#define SEED_MAX  9007199254740992.0 /* 2^53: also exact as a JSON number. */
#define REAL_MAX  1e300

#define LIMITS(low, high) .min = (low), .max = (high)

#define LAYER_NAME(name)                                     " " #name
#define LAYERS                                               NEURAL_LAYERS(LAYER_NAME)
#define SAMPLER_CHOICE(NAME, name, scattered, batches, text) "|" #name
#define SAMPLER_TEXT(NAME, name, scattered, batches, text)   "; " #name ": " text
#define SCHEDULE_CHOICE(NAME, name, needs, text)             "|" #name
#define SCHEDULE_TEXT(NAME, name, needs, text)               "; " #name ": " text

static const struct option table[RECIPE_OPTIONS] = {
    [OPT_DATA] = {.name = "data",
                  .kind = VALUE_TEXT,
                  .value = "DATA",
                  .help = "LIBSVM, CSV, TSV, IDX or npy file (.gz and .zst "
                          "too), npz, - for standard input, or "
                          "gen:gmm[:ROWS,COLS], gen:linear[:ROWS,COLS], "
                          "gen:digits[:ROWS]",
                  .traits = TRAIT(DATA)},
    [OPT_INPUT] = {.name = "input",
                   .kind = VALUE_CHOICE,
                   .value = "FORM",
                   .choices = "libsvm|csv|tsv|idx|npy|npz",
                   .shown = "by name and first bytes",
                   .help = "form of the data: libsvm, csv, tsv, idx, npy or "
                           "npz",
                   .traits = TRAIT(READING)},
    [OPT_LABEL] = {.name = "label",
                   .kind = VALUE_TEXT,
                   .value = "COLUMN",
                   .shown = "the last",
                   .help = "tables: the label's column, by name or number (:2 "
                           "is the second even if one is called 2); "
                           "predict: none if there is no such column",
                   .traits = TRAIT(READING)},
    [OPT_LABELS] = {.name = "labels",
                    .kind = VALUE_TEXT,
                    .value = "FILE",
                    .help = "idx, npy, npz: the labels of DATA",
                    .traits = TRAIT(READING)},
    [OPT_TEST_LABELS] = {.name = "test-labels",
                         .kind = VALUE_TEXT,
                         .value = "FILE",
                         .help = "idx, npy, npz: the labels of --test"},
    [OPT_CATEGORICAL] = {.name = "categorical",
                         .kind = VALUE_TEXT,
                         .adds = ',',
                         .value = "COLUMNS",
                         .shown = "auto",
                         .help = "csv, tsv: columns that are one-hot: names "
                                 "or numbers (:2 is a place) with commas, all, "
                                 "none, or auto: those of words; "
                                 "auto,zip: zip besides; may be repeated",
                         .traits = TRAIT(CATEGORIES)},
    [OPT_PAIRS] = {.name = "pairs",
                   .kind = VALUE_FLAG,
                   .help = "csv, tsv: also a column for each pair of "
                           "categories that occurs",
                   .traits = TRAIT(CATEGORIES)},
    [OPT_SCALE] = {.name = "scale",
                   .kind = VALUE_CHOICE,
                   .value = "HOW",
                   .choices = "none|standard|minmax",
                   .initial = "none",
                   .help = "csv, tsv, npy, npz: columns of numbers to mean 0 "
                           "and deviation 1 (standard, that of --net on "
                           "tables unless given) or to 0..1 (minmax)",
                   .traits = TRAIT(MEANS)},
    [OPT_MISSING] = {.name = "missing",
                     .kind = VALUE_CHOICE,
                     .value = "HOW",
                     .choices = "refuse|mean|median|zero|indicator",
                     .initial = "refuse",
                     .help = "tables: what to put where a field is empty, ?, "
                             "NA, NaN or null; indicator: the mean, and a "
                             "column that says so",
                     .traits = TRAIT(MEANS)},
    [OPT_DROP] = {.name = "drop",
                  .kind = VALUE_TEXT,
                  .adds = ',',
                  .value = "COLUMNS",
                  .help = "tables: columns to leave out, names or numbers "
                          "with commas (:1 is the first even if one is called "
                          "1); may be repeated",
                  .traits = TRAIT(READING) | TRAIT(DROP)},
    [OPT_WEIGHT] =
        {.name = "weight",
         .kind = VALUE_TEXT,
         .value = "COLUMN",
         .help = "tables: column of the rows' weights, name or "
                 "number (:2 is a place); they multiply the losses of rows and "
                 "are no feature",
         .traits = TRAIT(READING)},
    [OPT_HEADER] = {.name = "header",
                    .kind = VALUE_CHOICE,
                    .value = "WHICH",
                    .choices = "auto|yes|no",
                    .initial = "auto",
                    .help = "csv, tsv: is the first line names? auto: it is "
                            "if it has words where rows have numbers, or "
                            "counts up",
                    .traits = TRAIT(READING)},
    [OPT_SEPARATOR] = {.name = "separator",
                       .kind = VALUE_TEXT,
                       .value = "C",
                       .shown = "found out",
                       .check = value_check_separator,
                       .help = "csv, tsv: the character between fields, or tab",
                       .traits = TRAIT(READING)},
    [OPT_ZERO_BASED] = {.name = "zero-based",
                        .kind = VALUE_FLAG,
                        .help = "libsvm: indices start at 0, as scikit-learn "
                                "writes them; found out if there is a 0",
                        .traits = TRAIT(READING)},
    [OPT_SHAPE] = {.name = "shape",
                   .kind = VALUE_TEXT,
                   .value = "HxWxC",
                   .check = value_check_shape,
                   .shown = "as the file says",
                   .help = "rows are images, HEIGHTxWIDTHxCHANNELS, pixel "
                           "after pixel; IDX and npy of three or four "
                           "dimensions say so themselves",
                   .traits = TRAIT(READING)},
    [OPT_STORAGE] =
        {.name = "storage",
         .kind = VALUE_CHOICE,
         .value = "FORM",
         .choices = "f32|f64|bf16|i8|u8|pixel|bit|index|csr",
         .shown = "chosen from the values",
         .help = "how rows lie in memory: f32, f64, bf16, i8, "
                 "u8, pixel, bit, index or csr; values are rounded to fp32 "
                 "unless it is f64, which is chosen if rounding "
                 "costs a column 0.01 % of its spread; f32 is also how workers "
                 "keep coded blocks then, else f64",
         .traits = TRAIT(STORAGE)},
    [OPT_CACHE] = {.name = "cache",
                   .kind = VALUE_TEXT,
                   .value = "DIR",
                   .help = "keep a binary copy of the data there, and use it"},
    [OPT_DATA_SHARED] =
        {.name = "data-shared",
         .kind = VALUE_TEXT,
         .value = "PLACE",
         .help = "workers read the data there, by range, and are sent none: a "
                 "path (written if it is not there) or an https address",
         .traits = TRAIT(NEEDS_WORKERS) | TRAIT(SHARED)},
    [OPT_SHIP] = {.name = "ship",
                  .kind = VALUE_CHOICE,
                  .value = "WHO",
                  .choices = "peers|coordinator",
                  .shown = "peers",
                  .help = "who sends joiners their rows: also other joiners "
                          "that have them (peers), or the coordinator alone",
                  .traits = TRAIT(NEEDS_WORKERS) | TRAIT(SHIP)},
    [OPT_CA] = {.name = "ca",
                .kind = VALUE_TEXT,
                .value = "FILE",
                .shown = "those of the system",
                .help = "--data-shared https://...: certificates (PEM) of the "
                        "authorities that may have signed the server's"},
    [OPT_OWNERS] = {.name = "owners",
                    .kind = VALUE_COUNT,
                    .value = "FILES",
                    LIMITS(1, HOMES_MAX),
                    .help = "instead of DATA: wait for so many files whose "
                            "rows stay with their owners (`muster join "
                            "--data-private FILE`; in a ring each peer "
                            "has one)",
                    .traits = TRAIT(OWNERS)},
    [OPT_DATA_PRIVATE] = {.name = "data-private",
                          .kind = VALUE_TEXT,
                          .value = "FILE",
                          .help = "--topology ring --owners: the rows of this "
                                  "peer, which never leave it"},
    [OPT_OWNER_WAIT] =
        {.name = "owner-wait",
         .kind = VALUE_REAL,
         .value = "SECONDS",
         .initial = "600",
         LIMITS(0.1, 1e7),
         .help = "--owners: how long a step waits for an owner that is "
                 "away; then the run ends, its state saved"},
    [OPT_NET] =
        {.name = "net",
         .kind = VALUE_TEXT,
         .check = value_check_net,
         .value = "TEXT|FILE",
         .help =
             "train a network of these layers on batches, such as "
             "\"conv3x3x32 relu pool2 drop.25 dense128 relu dense10\":" LAYERS
             "; --optim adam, --batch 128 and --chunk-rows 16 "
             "unless said otherwise",
         .traits = TRAIT(NET) | TRAIT(BATCH)},
    [OPT_INIT] = {.name = "init",
                  .kind = VALUE_TEXT,
                  .value = "MODEL",
                  .help = "begin with the weights of this saved model, a "
                          "network or a linear one; rows are read by its "
                          "columns, scaling and labels, and --net is its own "
                          "unless given",
                  .shown = "0; of a network drawn by --seed",
                  .traits = TRAIT(INIT)},
    [OPT_MODEL] = {.name = "model",
                   .kind = VALUE_CHOICE,
                   .value = "KIND",
                   .choices = "linear|logistic|svm|hinge|softmax",
                   .shown = "by the labels",
                   .help = "linear, logistic, svm (squared hinge), hinge, or "
                           "softmax for two to 1024 classes; by the labels: "
                           "words, or up to 20 whole numbers each seen 5 "
                           "times, are classes (two: logistic, more: "
                           "softmax), others numbers (linear)"},
    [OPT_LOSS] = {.name = "loss",
                  .kind = VALUE_CHOICE,
                  .value = "NAME",
                  .choices = "squared-hinge|hinge",
                  .shown = "squared-hinge",
                  .help = "of --model svm: squared-hinge or hinge",
                  .traits = TRAIT(LOSS)},
    [OPT_TEST] = {.name = "test",
                  .kind = VALUE_TEXT,
                  .value = "FILE",
                  .help = "rows to measure the model on",
                  .traits = TRAIT(TEST)},
    [OPT_VALID] = {.name = "valid",
                   .kind = VALUE_TEXT,
                   .value = "FILE|PART",
                   .check = value_check_valid,
                   .help = "rows to watch while training: a file, or the part "
                           "of DATA to hold out (0.2)",
                   .traits = TRAIT(VALID)},
    [OPT_METRIC] = {.name = "metric",
                    .kind = VALUE_CHOICE,
                    .value = "NAME",
                    .choices =
                        "accuracy|precision|recall|f1|auc|logloss|mse|r2",
                    .shown = "mse for numbers, else accuracy",
                    .help = "what to watch and to sort by: accuracy, "
                            "precision, recall, f1, auc, logloss, mse or r2"},
    [OPT_NO_INTERCEPT] = {.name = "no-intercept",
                          .kind = VALUE_FLAG,
                          .help =
                              "learn no constant (otherwise one is, without "
                              "penalty)"},
    [OPT_L2] =
        {.name = "l2",
         .kind = VALUE_REAL,
         .value = "A",
         LIMITS(0, REAL_MAX),
         .shown = "1/rows",
         .help =
             "penalty A |w|^2, not on a linear model's constant; with --net 0"},
    [OPT_WEIGHT_DECAY] = {.name = "weight-decay",
                          .kind = VALUE_REAL,
                          .value = "D",
                          LIMITS(0, REAL_MAX),
                          .help = "the penalty as other programs name it: "
                                  "--l2 D/2, whose gradient is D w"},
    [OPT_CLASS_WEIGHT] = {.name = "class-weight",
                          .kind = VALUE_TEXT,
                          .value = "LIST",
                          .check = value_check_class_weight,
                          .help = "weights of rows by label: balanced, or "
                                  "LABEL=WEIGHT,... (also -wLABEL WEIGHT)",
                          .traits = TRAIT(CLASS_WEIGHT)},
    [OPT_CHUNK_ROWS] = {.name = "chunk-rows",
                        .kind = VALUE_COUNT,
                        .value = "ROWS",
                        LIMITS(1, 1 << 30),
                        .shown = "256 or more; --net 16",
                        .help = "rows of a chunk, the unit of work and of "
                                "rounding, which decides bits: rows that "
                                "follow each other in the data or, with "
                                "--batch, in the batch (a microbatch, a 32nd "
                                "of it by default)"},
    [OPT_SEED] = {.name = "seed",
                  .kind = VALUE_COUNT,
                  .value = "N",
                  LIMITS(0, SEED_MAX),
                  .initial = "0",
                  .help = "of generated data, batches, random delays and "
                          "faults"},
    [OPT_OPTIM] = {.name = "optim",
                   .aliases = "optimizer|optimiser",
                   .kind = VALUE_CHOICE,
                   .value = "NAME",
                   .choices =
                       "gd|agd|momentum|nesterov|adam|adamw|lbfgs|newton|sgd",
                   .shown = "newton where it can",
                   .help = "gd, agd (accelerated), momentum, nesterov, adam, "
                           "adamw (--l2 decoupled), lbfgs, "
                           "newton, or sgd (row by row; workers only with "
                           "--code local); lbfgs where there are no second "
                           "derivatives (mds), gd with codes that "
                           "estimate, agd to simulate"},
    [OPT_LR] = {.name = "lr",
                .aliases = "learning-rate",
                .kind = VALUE_REAL,
                .value = "RATE",
                LIMITS(1e-300, REAL_MAX),
                .shown = "1/(estimated Lipschitz constant)",
                .help = "learning rate; with --batch, unless given, one that "
                        "small batches bear and that falls to 0 (--schedule "
                        "cosine); of adam and adamw 0.001, which stays; of "
                        "--net one that falls",
                .traits = TRAIT(RATE)},
    [OPT_SCHEDULE] = {.name = "schedule",
                      .kind = VALUE_CHOICE,
                      .value = "NAME",
                      .choices = &SCHEDULE_LIST(SCHEDULE_CHOICE)[1],
                      .initial = "decay",
                      .help = "rate of step i" SCHEDULE_LIST(SCHEDULE_TEXT),
                      .traits = TRAIT(RATE_RULE)},
    [OPT_DECAY] = {.name = "decay",
                   .kind = VALUE_REAL,
                   .value = "FACTOR",
                   LIMITS(1e-6, 1),
                   .initial = "1",
                   .help = "multiplies the rate after each step, or after "
                           "every --decay-every",
                   .traits = TRAIT(RATE_RULE)},
    [OPT_DECAY_EVERY] = {.name = "decay-every",
                         .kind = VALUE_COUNT,
                         .value = "EVERY",
                         LIMITS(1, COUNT_MAX),
                         .shown = "a third of the steps",
                         .help = "steps of --schedule step",
                         .traits = TRAIT(RATE_RULE)},
    [OPT_WARMUP] = {.name = "warmup",
                    .kind = VALUE_COUNT,
                    .value = "N",
                    LIMITS(0, COUNT_MAX),
                    .initial = "0",
                    .help = "steps in which the rate grows to its schedule, "
                            "in a straight line",
                    .traits = TRAIT(RATE_RULE)},
    [OPT_CLIP] = {.name = "clip",
                  .kind = VALUE_REAL,
                  .value = "NORM",
                  LIMITS(0, REAL_MAX),
                  .initial = "0",
                  .help = "shorten longer gradients to this length; 0 = never",
                  .traits = TRAIT(RATE_RULE)},
    [OPT_MOMENTUM] = {.name = "momentum",
                      .kind = VALUE_REAL,
                      .value = "MU",
                      LIMITS(0, 0.999999),
                      .shown = "0.9",
                      .help = "of --optim momentum and nesterov",
                      .traits = TRAIT(MOMENTUM)},
    [OPT_BATCH] = {.name = "batch",
                   .aliases = "batch-size|minibatch",
                   .kind = VALUE_COUNT,
                   .value = "B",
                   LIMITS(1, 1 << 30),
                   .shown = "all rows",
                   .help = "rows of a step: minibatches, each row once a "
                           "pass, in an order drawn from --seed; not with "
                           "lbfgs, newton and sgd",
                   .traits = TRAIT(BATCH)},
    [OPT_BATCH_PER_WORKER] =
        {.name = "batch-per-worker",
         .kind = VALUE_COUNT,
         .value = "B",
         LIMITS(1, 1 << 30),
         .help = "--batch of B rows for each worker wanted at the start, and "
                 "--lr times their number, with --warmup (of --net its own "
                 "rate, too); who dies or joins changes neither",
         .traits = TRAIT(NEEDS_WORKERS) | TRAIT(STARTED) | TRAIT(BATCH)},
    [OPT_SHUFFLE] = {.name = "shuffle",
                     .kind = VALUE_CHOICE,
                     .value = "HOW",
                     .choices = &SAMPLER_LIST(SAMPLER_CHOICE)[1],
                     .shown = "rows",
                     .help = "how batches are drawn" SAMPLER_LIST(SAMPLER_TEXT),
                     .traits = TRAIT(BATCH)},
    [OPT_PASSES] = {.name = "passes",
                    .aliases = "epochs",
                    .kind = VALUE_COUNT,
                    .value = "N",
                    LIMITS(1, COUNT_MAX),
                    .shown = "10; --net 10 to 200, by its work; --patience 200",
                    .help = "how often each row is seen, instead of --steps",
                    .traits = TRAIT(PASSES)},
    [OPT_PATIENCE] = {.name = "patience",
                      .kind = VALUE_COUNT,
                      .value = "N",
                      LIMITS(1, COUNT_MAX),
                      .shown = "never",
                      .help = "early stopping: end after N passes without a "
                              "lower loss on --valid (0.1 unless given); the "
                              "model is that of the best pass",
                      .traits = TRAIT(PATIENCE)},
    [OPT_STEPS] = {.name = "steps",
                   .kind = VALUE_COUNT,
                   .value = "N",
                   LIMITS(1, COUNT_MAX),
                   .shown = "lbfgs, newton 1000; sgd 1; others 100",
                   .help = "model updates, each over all the data or over "
                           "--batch B rows"},
    [OPT_TOL] = {.name = "tol",
                 .kind = VALUE_REAL,
                 .value = "X",
                 LIMITS(0, REAL_MAX),
                 .initial = "0",
                 .help = "stop when |gradient| <= X",
                 .traits = TRAIT(ENDS)},
    [OPT_GAP] = {.name = "gap",
                 .kind = VALUE_REAL,
                 .value = "X",
                 LIMITS(0, REAL_MAX),
                 .initial = "0",
                 .help = "stop when the objective is within X |F| of "
                         "--optimum F",
                 .traits = TRAIT(ENDS) | TRAIT(GAP)},
    [OPT_ACCURACY] = {.name = "accuracy",
                      .kind = VALUE_REAL,
                      .value = "X",
                      LIMITS(0, 1),
                      .shown = "1e-10 unless --tol or --gap is given",
                      .help = "lbfgs, newton: stop when the objective is "
                              "estimated to be within X of its least; 0 = "
                              "never; hinge: proved, and 1e-3 by default",
                      .traits = TRAIT(ACCURACY)},
    [OPT_OPTIMUM] = {.name = "optimum",
                     .kind = VALUE_REAL,
                     .value = "F",
                     LIMITS(-REAL_MAX, REAL_MAX),
                     .help = "the least objective, where it is known"},
    [OPT_MAX_TIME] = {.name = "max-time",
                      .kind = VALUE_REAL,
                      .value = "SECONDS",
                      LIMITS(0, 1e9),
                      .initial = "0",
                      .help = "save and stop at the first step boundary after "
                              "so long; 0 = never"},
    [OPT_FOLDS] = {.name = "folds",
                   .aliases = "v",
                   .kind = VALUE_COUNT,
                   .value = "FOLDS",
                   LIMITS(2, 1 << 20),
                   .help =
                       "cross-validate in so many folds, drawn from --seed"},
    [OPT_GRID] = {.name = "grid",
                  .kind = VALUE_TEXT,
                  .adds = ' ',
                  .value = "LISTS",
                  .help =
                      "try all combinations, as in \"l2=0.001,0.01 "
                      "batch=32,128\" (c: as -c, so no constant), on -v "
                      "FOLDS or on --valid (default 0.2); FILE is the best, "
                      "trained on all rows"},
    [OPT_SOLVER] = {.name = "solver",
                    .aliases = "s",
                    .kind = VALUE_COUNT,
                    .value = "TYPE",
                    LIMITS(0, 21),
                    .help =
                        "0, 7 logistic; 1, 2 svm; 3 svm --loss hinge; 11, "
                        "12 linear; with newton, 1000 steps (3: 10000, and "
                        "-e does not count) and -c 1 unless said otherwise"},
    [OPT_COST] = {.name = "cost",
                  .aliases = "c",
                  .kind = VALUE_REAL,
                  .value = "C",
                  LIMITS(1e-300, REAL_MAX),
                  .help = "objective |w|^2/2 + C * sum of losses, for --l2; "
                          "as with LIBLINEAR there is no constant then unless "
                          "-B 1 says so"},
    [OPT_EPS] = {.name = "eps",
                 .aliases = "e",
                 .kind = VALUE_REAL,
                 .value = "EPS",
                 LIMITS(0, REAL_MAX),
                 .shown = "0.01; 11, 12: 0.0001",
                 .help = "stop when |gradient| <= EPS * min(pos,neg)/rows * "
                         "|gradient at 0|",
                 .traits = TRAIT(ENDS)},
    [OPT_BIAS] = {.name = "bias",
                  .aliases = "B",
                  .kind = VALUE_REAL,
                  .value = "BIAS",
                  LIMITS(-REAL_MAX, REAL_MAX),
                  .shown = "-1",
                  .help = "1: a constant is learnt, penalised as any weight; "
                          "below 0: none"},
    [OPT_SVR_EPS] = {.name = "svr-eps",
                     .aliases = "p",
                     .kind = VALUE_REAL,
                     .value = "P",
                     LIMITS(0, REAL_MAX),
                     .help = "0: least squares, the only one of -s 11 here"},
    [OPT_N] = {.name = "n",
               .aliases = "np",
               .kind = VALUE_COUNT,
               .value = "N",
               LIMITS(0, RECIPE_WORKERS_MAX),
               .initial = "0",
               .help = "local workers; 0 = train in this process alone",
               .traits = TRAIT(LOCAL_WORKERS)},
    [OPT_WORKERS] =
        {.name = "workers",
         .kind = VALUE_SPAN,
         .value = "MIN[:MAX]",
         LIMITS(1, RECIPE_WORKERS_MAX),
         .shown = "as -n, and 64 more",
         .help =
             "start when MIN are there, or some after 60 s; let in up to MAX",
         .traits = TRAIT(GATHERS)},
    [OPT_CODE] = {.name = "code",
                  .kind = VALUE_TEXT,
                  .check = value_check_code,
                  .value = "NAME[:KEY=VALUE]..",
                  .shown = "steal; one worker: plain",
                  .help = "who computes what: see `muster codes`, and `muster "
                          "codes NAME` for its keys; auto changes it where "
                          "that pays",
                  .traits = TRAIT(NEEDS_WORKERS) | TRAIT(CODE)},
    [OPT_STRAGGLERS] = {.name = "stragglers",
                        .kind = VALUE_COUNT,
                        .value = "S",
                        LIMITS(0, RECIPE_WORKERS_MAX),
                        .initial = "1",
                        .help = "workers that may be slow or dead in a step; "
                                "one code's: s=S",
                        .traits = TRAIT(NEEDS_WORKERS) | TRAIT(CODE)},
    [OPT_EXACT] = {.name = "exact",
                   .kind = VALUE_CHOICE,
                   .value = "CLASS",
                   .choices = "bitwise|numeric|approx",
                   .shown = "the code's",
                   .help = "refuse codes worse than bitwise, numeric or "
                           "approx"},
    [OPT_VERIFY] = {.name = "verify",
                    .kind = VALUE_FLAG,
                    .help = "no piece counts before two workers gave the same "
                            "answer to it; who lies is named and shut out",
                    .traits = TRAIT(NEEDS_WORKERS) | TRAIT(CHECKED)},
    [OPT_AUDIT] = {.name = "audit",
                   .kind = VALUE_TEXT,
                   .check = value_check_audit,
                   .value = "SHARE",
                   .help = "the same for a random share of the pieces, such as "
                           "1%",
                   .traits = TRAIT(NEEDS_WORKERS) | TRAIT(CHECKED)},
    [OPT_THREADS] = {.name = "threads",
                     .kind = VALUE_COUNT,
                     .value = "N",
                     LIMITS(1, 1024),
                     .shown = "processors / workers",
                     .help = "threads of each worker"},
    [OPT_ISA] = {.name = "isa",
                 .kind = VALUE_CHOICE,
                 .value = "NAME",
                 .choices = "portable|avx2|avx512",
                 .shown = "the best here",
                 .help = "instruction set: portable, avx2 or avx512; the bits "
                         "are the same"},
    [OPT_TOPOLOGY] = {.name = "topology",
                      .kind = VALUE_CHOICE,
                      .value = "WHICH",
                      .choices = "star|ring|mpi",
                      .shown = "star",
                      .help = "star: a coordinator and its workers; ring: "
                              "peers of equal rank, each of which ends with "
                              "the model, and the last of which can finish "
                              "it alone; mpi: the ranks that mpirun started "
                              "muster as; the bits are the same",
                      .traits = TRAIT(NEEDS_WORKERS)},
    [OPT_DELAY] = {.name = "delay",
                   .kind = VALUE_TEXT,
                   .adds = '+',
                   .check = value_check_delay,
                   .value = "SPEC",
                   .help =
                       "make workers slow: reference[:MEAN], exp:MEAN, "
                       "shifted:A,MEAN, pareto:XM,ALPHA, "
                       "lognormal:MEDIAN,SIGMA, weibull:SCALE,SHAPE, "
                       "bimodal:P,FACTOR, worker:NAME=FACTOR, dead:P, "
                       "trace:FILE; then /scale, /times, /share, "
                       "/persistent, /rack:N, /burst:ENTER,LEAVE; join with +",
                   .traits = TRAIT(NEEDS_WORKERS) | TRAIT(DELAY)},
    [OPT_CHAOS] = {.name = "chaos",
                   .kind = VALUE_TEXT,
                   .adds = ',',
                   .check = value_check_chaos,
                   .value = "LIST",
                   .help = "kill:w3@20, stop:w2@10+5, kill:coordinator@30, "
                           "leave:w1@40, lie:w2@5, join@25, kill=RATE/s, ...",
                   .traits = TRAIT(NEEDS_WORKERS) | TRAIT(STARTED)},
    [OPT_LISTEN] = {.name = "listen",
                    .kind = VALUE_TEXT,
                    .value = "HOST:PORT",
                    .shown = "loopback, any port",
                    .check = value_check_listen,
                    .help = "where `muster join` finds the coordinator",
                    .traits = TRAIT(GATHERS)},
    [OPT_PEERS] = {.name = "peers",
                   .kind = VALUE_TEXT,
                   .adds = ',',
                   .value = "HOST:PORT,...",
                   .check = value_check_peers,
                   .help = "--topology ring: some of its peers on other "
                           "machines; those of this one join them, with the "
                           "same data and options",
                   .traits = TRAIT(NEEDS_WORKERS) | TRAIT(PEERS)},
    [OPT_NAME] = {.name = "name",
                  .kind = VALUE_TEXT,
                  .value = "NAME",
                  .shown = "host and process id",
                  .help = "--topology ring: the name of this machine's first "
                          "peer, and how the names of its others begin; no two "
                          "are the same"},
    [OPT_INTERFACE] = {.name = "interface",
                       .kind = VALUE_TEXT,
                       .value = "NAME|ADDR",
                       .shown = "the routing table's",
                       .help =
                           "the network card, or its address, to listen on"},
    [OPT_FANOUT] = {.name = "fanout",
                    .kind = VALUE_COUNT,
                    .value = "F",
                    LIMITS(0, 1024),
                    .initial = "0",
                    .help = "local workers beyond F go through relays, one "
                            "for every F, and so on: nobody serves more than "
                            "F; 0 = none",
                    .traits = TRAIT(RELAYS)},
    [OPT_TOKEN_FILE] = {.name = "token-file",
                        .kind = VALUE_TEXT,
                        .value = "FILE",
                        .help = "the key, from `muster token new`; nothing "
                                "leaves this machine without one"},
    [OPT_RESPAWN] = {.name = "respawn",
                     .kind = VALUE_FLAG,
                     .help = "start local workers that died again",
                     .traits = TRAIT(NEEDS_WORKERS) | TRAIT(STARTED)},
    [OPT_OUT] = {.name = "out",
                 .kind = VALUE_TEXT,
                 .value = "PATH",
                 .shown = "muster-runs/NUMBER-ID",
                 .help = "folder of the run's journal and checkpoints"},
    [OPT_RESUME] = {.name = "resume",
                    .kind = VALUE_RUN,
                    .value = "[DIR]",
                    .help = "go on with the run in DIR, or in --out, or the "
                            "last one"},
    [OPT_SYNC] = {.name = "sync",
                  .kind = VALUE_FLAG,
                  .help = "make every step durable before the next",
                  .traits = TRAIT(STARTED)},
    [OPT_BULK] = {.name = "bulk",
                  .kind = VALUE_CHOICE,
                  .value = "ROAD",
                  .choices = "auto|shm|tcp|plain",
                  .shown = "auto",
                  .help =
                      "how weights and tallies of -n workers travel: shared "
                      "memory (shm), sockets (tcp), sockets without TLS, which "
                      "whoever is on the way can read and change (plain, of a "
                      "ring), or shared memory where there is room (auto); the "
                      "bits are the same",
                  .traits = TRAIT(STARTED)},
    [OPT_PREEMPT_NOTICE] = {.name = "preempt-notice",
                            .kind = VALUE_TEXT,
                            .value = "WHERE",
                            .help =
                                "save the state and end with 75 once the "
                                "provider takes this machine away: aws, gcp, "
                                "azure or file:PATH (there is such a file)",
                            .traits = TRAIT(STARTED)},
    [OPT_PREEMPT_ADDRESS] = {.name = "preempt-address",
                             .kind = VALUE_TEXT,
                             .value = "URL",
                             .shown = "the provider's",
                             .help = "ask there for the notice instead"},
};

const struct option *recipe_row(int id)
{
    CHECK(id >= 0 && id < RECIPE_OPTIONS);
    return &table[id];
}
