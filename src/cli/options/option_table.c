/*
 * option_table.c - which command takes which option, in the order of --help,
 * and the rows of those that are no choice of a training
 * (learn/recipe/recipe.h).
 */
#include "base/check.h"
#include "cli/options/options.h"

#define SEED_MAX 9007199254740992.0 /* 2^53: also exact as a JSON number. */
#define REAL_MAX 1e300

enum {
    /* Commands that train, for real or in virtual time. */
    BOTH = CMD_TRAIN | CMD_SIMULATE,
    TALKS = CMD_TRAIN | CMD_JOIN | CMD_RELAY | CMD_STATUS | CMD_STOP | CMD_SET |
            CMD_PRODUCT,
    COMPUTES = CMD_TRAIN | CMD_JOIN | CMD_SIMULATE | CMD_PRODUCT,
    CODED = BOTH | CMD_CODES | CMD_PRODUCT,
    /* With processes. */
    RUNS = CMD_TRAIN | CMD_PRODUCT,
};

static const char files[] = "Data files";
static const char problem[] = "Problem";
static const char optimiser[] = "Optimiser";
static const char workers[] = "Workers and code";
static const char trouble[] = "Trouble on purpose";
static const char cluster[] = "Cluster and state";
static const char machines[] = "Machines";
static const char many[] = "Many runs at once";
static const char habit[] = "As LIBLINEAR's train has them";
static const char simulator[] = "Simulator";
static const char planning[] = "Plan";
static const char shown_code[] = "What is shown";
static const char prediction[] = "Predictions";
static const char output[] = "Output";

static const struct option_use uses[OPTIONS] = {
    {OPT_DATA, NULL, BOTH | CMD_PREDICT, 0},
    {OPT_SAVE, NULL, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_ADDRESS, NULL, CMD_JOIN | CMD_RELAY | CMD_STATUS | CMD_STOP | CMD_SET,
     0},
    {OPT_SETTING, NULL, CMD_SET, 0},
    {OPT_ACTION, NULL, CMD_TOKEN, 0},
    {OPT_FILE, NULL, CMD_TOKEN, 0},
    {OPT_TOPIC, NULL, CMD_HELP, 0},
    {OPT_DATA_ACTION, NULL, CMD_DATA, 0},
    {OPT_WHAT, NULL, CMD_DATA, 0},
    {OPT_MODEL_FILE, NULL, CMD_PREDICT | CMD_MODEL, 0},
    {OPT_PREDICTIONS, NULL, CMD_PREDICT, 0},
    {OPT_MODEL_ACTION, NULL, CMD_MODEL, 0},
    {OPT_CONVERTED, NULL, CMD_MODEL, 0},
    {OPT_CODE_NAME, NULL, CMD_CODES, 0},
    {OPT_RUN, NULL, CMD_REPORT, 0},
    {OPT_FACTOR, NULL, CMD_PRODUCT, 0},
    {OPT_COLUMNS, NULL, CMD_PRODUCT, 0},
    {OPT_PRODUCT, NULL, CMD_PRODUCT, 0},
    {OPT_EXPERIMENT, NULL, CMD_REPRODUCE, 0},
    {OPT_ENGINE, NULL, CMD_LAUNCH, 0},
    {OPT_INPUT, files, BOTH | CMD_PREDICT | CMD_DATA | CMD_JOIN, 0},
    {OPT_LABEL, files, BOTH | CMD_PREDICT | CMD_DATA | CMD_JOIN, CMD_TRAIN},
    {OPT_LABELS, files, BOTH | CMD_PREDICT | CMD_DATA | CMD_JOIN, 0},
    {OPT_TEST_LABELS, files, BOTH, 0},
    {OPT_CATEGORICAL, files, BOTH | CMD_DATA, 0},
    {OPT_PAIRS, files, BOTH | CMD_DATA, 0},
    {OPT_SCALE, files, BOTH | CMD_DATA, CMD_TRAIN},
    {OPT_MISSING, files, BOTH | CMD_DATA, CMD_TRAIN},
    {OPT_DROP, files, BOTH | CMD_DATA | CMD_JOIN, 0},
    {OPT_WEIGHT, files, BOTH | CMD_DATA | CMD_JOIN, 0},
    {OPT_HEADER, files, BOTH | CMD_PREDICT | CMD_DATA | CMD_JOIN, 0},
    {OPT_SEPARATOR, files, BOTH | CMD_PREDICT | CMD_DATA | CMD_JOIN, 0},
    {OPT_ZERO_BASED, files, BOTH | CMD_PREDICT | CMD_DATA | CMD_JOIN, 0},
    {OPT_SHAPE, files, BOTH | CMD_DATA | CMD_MODEL | CMD_JOIN | CMD_PLAN, 0},
    {OPT_STORAGE, files, BOTH | CMD_PREDICT | CMD_DATA, 0},
    {OPT_CACHE, files, BOTH | CMD_PREDICT | CMD_DATA, 0},
    {OPT_CHUNK_CACHE, files, CMD_JOIN, 0},
    {OPT_CACHE_SIZE, files, CMD_JOIN, 0},
    {OPT_DATA_SHARED, files, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_SHIP, files, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_CA, files, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_OWNERS, files, CMD_TRAIN, 0},
    {OPT_DATA_PRIVATE, files, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_OWNER_WAIT, files, CMD_TRAIN, 0},
    {OPT_RAW, files, CMD_DATA | CMD_REPRODUCE, 0},
    {OPT_SHA256, files, CMD_DATA, 0},
    {OPT_FILTERS, files, CMD_DATA, 0},
    {OPT_NET, problem, BOTH | CMD_PLAN, CMD_TRAIN},
    {OPT_INIT, problem, CMD_TRAIN, 0},
    {OPT_MODEL, problem, BOTH, BOTH},
    {OPT_LOSS, problem, BOTH, 0},
    {OPT_TEST, problem, BOTH, BOTH},
    {OPT_VALID, problem, BOTH, CMD_TRAIN},
    {OPT_METRIC, problem, BOTH | CMD_PREDICT, 0},
    {OPT_NO_INTERCEPT, problem, BOTH, 0},
    {OPT_L2, problem, BOTH, CMD_TRAIN},
    {OPT_WEIGHT_DECAY, problem, BOTH, 0},
    {OPT_CLASS_WEIGHT, problem, BOTH, CMD_TRAIN},
    {OPT_CHUNK_ROWS, problem, BOTH | CMD_MODEL | CMD_PLAN, 0},
    {OPT_SEED, problem, CODED | CMD_DATA | CMD_PLAN, CMD_SIMULATE},
    {OPT_OPTIM, optimiser, BOTH, BOTH},
    {OPT_LR, optimiser, BOTH, BOTH},
    {OPT_SCHEDULE, optimiser, BOTH, 0},
    {OPT_DECAY, optimiser, BOTH, 0},
    {OPT_DECAY_EVERY, optimiser, BOTH, 0},
    {OPT_WARMUP, optimiser, BOTH, 0},
    {OPT_CLIP, optimiser, BOTH, 0},
    {OPT_MOMENTUM, optimiser, BOTH, 0},
    {OPT_BATCH, optimiser, BOTH | CMD_PLAN, BOTH},
    {OPT_BATCH_PER_WORKER, optimiser, BOTH | CMD_PLAN, 0},
    {OPT_SHUFFLE, optimiser, BOTH | CMD_PLAN, 0},
    {OPT_PASSES, optimiser, BOTH | CMD_PLAN, 0},
    {OPT_PATIENCE, optimiser, BOTH, 0},
    {OPT_STEPS, optimiser, BOTH | CMD_PLAN, BOTH},
    {OPT_TOL, optimiser, BOTH, 0},
    {OPT_GAP, optimiser, BOTH, 0},
    {OPT_ACCURACY, optimiser, BOTH, 0},
    {OPT_OPTIMUM, optimiser, BOTH, 0},
    {OPT_MAX_TIME, optimiser, CMD_TRAIN, 0},
    {OPT_FOLDS, many, CMD_TRAIN, CMD_TRAIN},
    {OPT_GRID, many, CMD_TRAIN, CMD_TRAIN},
    {OPT_SOLVER, habit, CMD_TRAIN, 0},
    {OPT_COST, habit, CMD_TRAIN, 0},
    {OPT_EPS, habit, CMD_TRAIN, 0},
    {OPT_BIAS, habit, CMD_TRAIN, 0},
    {OPT_SVR_EPS, habit, CMD_TRAIN, 0},
    {OPT_N, workers, CODED | CMD_PLAN, BOTH},
    {OPT_WORKERS, workers, BOTH | CMD_PLAN | CMD_PRODUCT | CMD_LAUNCH, 0},
    {OPT_CODE, workers, BOTH | CMD_PLAN | CMD_PRODUCT, BOTH},
    {OPT_STRAGGLERS, workers, CODED | CMD_PLAN, BOTH},
    {OPT_EXACT, workers, BOTH | CMD_PLAN | CMD_PRODUCT, 0},
    {OPT_VERIFY, workers, CMD_TRAIN, 0},
    {OPT_AUDIT, workers, CMD_TRAIN, 0},
    {OPT_THREADS, workers, COMPUTES | CMD_DATA | CMD_MODEL | CMD_LAUNCH,
     CMD_TRAIN},
    {OPT_ISA, workers, COMPUTES | CMD_PREDICT, 0},
    {OPT_TOPOLOGY, workers, CMD_TRAIN, 0},
    {OPT_DELAY, trouble, BOTH | CMD_PLAN | CMD_PRODUCT, CMD_SIMULATE},
    {OPT_CHAOS, trouble, RUNS, 0},
    {OPT_DEMO, trouble, CMD_TRAIN, CMD_TRAIN},
    {OPT_LISTEN, cluster, RUNS | CMD_RELAY | CMD_JOIN, CMD_TRAIN},
    {OPT_PEERS, cluster, CMD_TRAIN, 0},
    {OPT_INTERFACE, cluster, RUNS | CMD_JOIN, 0},
    {OPT_FANOUT, cluster, CMD_TRAIN | CMD_SIMULATE, 0},
    {OPT_TOKEN_FILE, cluster, TALKS, CMD_TRAIN},
    {OPT_NAME, cluster, CMD_TRAIN | CMD_JOIN | CMD_RELAY | CMD_TOKEN, 0},
    {OPT_FROM, cluster, CMD_TOKEN, 0},
    {OPT_RESPAWN, cluster, RUNS, 0},
    {OPT_OUT, cluster, RUNS, CMD_TRAIN},
    {OPT_RESUME, cluster, CMD_TRAIN, CMD_TRAIN},
    {OPT_SYNC, cluster, CMD_TRAIN, 0},
    {OPT_BULK, cluster, RUNS, 0},
    {OPT_RECORD, cluster, CMD_TRAIN, 0},
    {OPT_TRACE, cluster, BOTH, CMD_SIMULATE},
    {OPT_WHY_SLOW, cluster, CMD_STATUS, 0},
    {OPT_HOSTFILE, machines, CMD_LAUNCH, 0},
    {OPT_HOSTS, machines, CMD_LAUNCH, 0},
    {OPT_RESTART, machines, CMD_LAUNCH, 0},
    {OPT_REMOTE, machines, CMD_LAUNCH, 0},
    {OPT_SSH_CONFIG, machines, CMD_LAUNCH, 0},
    {OPT_SBATCH, machines, CMD_LAUNCH, 0},
    {OPT_PRINT, machines, CMD_LAUNCH, 0},
    {OPT_PREEMPT_NOTICE, cluster, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_PREEMPT_ADDRESS, cluster, CMD_TRAIN | CMD_JOIN, 0},
    {OPT_COMPUTE, simulator, CMD_SIMULATE, CMD_SIMULATE},
    {OPT_SERIES, simulator, CMD_SIMULATE, CMD_SIMULATE},
    {OPT_FAULTS, simulator, CMD_SIMULATE, CMD_SIMULATE},
    {OPT_SEEDS, simulator, CMD_SIMULATE, CMD_SIMULATE},
    {OPT_WORK, simulator, CMD_SIMULATE | CMD_PLAN, CMD_SIMULATE},
    {OPT_COMPARE, simulator, CMD_SIMULATE | CMD_PLAN, CMD_SIMULATE},
    {OPT_CSV, simulator, CMD_SIMULATE, CMD_SIMULATE},
    {OPT_PLOT, simulator, CMD_SIMULATE | CMD_CODES | CMD_DATA, CMD_SIMULATE},
    {OPT_QUICK, simulator, CMD_REPRODUCE, 0},
    {OPT_VIRTUAL, simulator, CMD_REPRODUCE, 0},
    {OPT_PLAN_ACTION, NULL, CMD_PLAN, 0},
    {OPT_PLAN_FROM, NULL, CMD_PLAN, 0},
    {OPT_ROWS, planning, CMD_PLAN, 0},
    {OPT_GFLOPS, planning, CMD_PLAN, 0},
    {OPT_NOISE, planning, CMD_PLAN, 0},
    {OPT_COPIES, planning, CMD_PLAN, 0},
    {OPT_SILENT, shown_code, CMD_CODES, 0},
    {OPT_RULES, shown_code, CMD_CODES, 0},
    {OPT_PROBABILITY, prediction, CMD_PREDICT, 0},
    {OPT_STYLE, prediction, CMD_PREDICT, 0},
    {OPT_TOP, prediction, CMD_PREDICT, 0},
    {OPT_CONFUSION, prediction, CMD_PREDICT, 0},
    {OPT_MAN, NULL, CMD_HELP, 0},
    {OPT_COMPLETION, NULL, CMD_HELP, 0},
    {OPT_TO, output, CMD_DATA | CMD_REPORT | CMD_REPRODUCE, 0},
    {OPT_PRICE, output, CMD_REPORT, 0},
    {OPT_FORMAT, output, CMD_ALL, 0},
    {OPT_QUIET, output, CMD_ALL, 0},
    {OPT_FORCE, output, RUNS | CMD_MODEL | CMD_PREDICT | CMD_JOIN, 0},
    {OPT_CONFIG, output, CMD_ALL, 0},
    {OPT_PRINT_CONFIG, output, CMD_ALL, 0},
    {OPT_HELP, output, CMD_ALL, BOTH},
};

#define LIMITS(low, high) .min = (low), .max = (high)

#define OWN(id) [(id) - (int) RECIPE_OPTIONS]

static const struct option own[OPTIONS - RECIPE_OPTIONS] = {
    OWN(OPT_SAVE) = {.name = "save",
                     .kind = VALUE_TEXT,
                     .value = "FILE",
                     .help = "write the model there, in LIBLINEAR's text form, "
                             "a network as safetensors; --save FILE is the "
                             "same, also without DATA",
                     .traits = TRAIT(SAVE)},
    OWN(OPT_ADDRESS) =
        {.name = "address",
         .kind = VALUE_TEXT,
         .value = "ADDRESS",
         .help = "HOST:PORT of the coordinator, or the run's folder"},
    OWN(OPT_SETTING) = {.name = "setting",
                        .kind = VALUE_TEXT,
                        .value = "size=SHARE",
                        .help = "code flexent: rows of a sample from the next "
                                "pass on, of those it stands for: size=20%"},
    OWN(OPT_ACTION) = {.name = "action",
                       .kind = VALUE_CHOICE,
                       .value = "new",
                       .choices = "new",
                       .help = "make a new token"},
    OWN(OPT_FILE) = {.name = "file",
                     .kind = VALUE_TEXT,
                     .value = "FILE",
                     .help = "the token file to write; it must not exist"},
    OWN(OPT_TOPIC) = {.name = "topic",
                      .kind = VALUE_TEXT,
                      .value = "COMMAND",
                      .help = "the command to explain"},
    OWN(OPT_DATA_ACTION) = {.name = "data-action",
                            .kind = VALUE_CHOICE,
                            .value = "ACTION",
                            .choices = "info|entropy|prepare|get",
                            .help =
                                "info: what is in DATA; entropy: how its rows "
                                "can be coloured, for samples of them; "
                                "prepare: encode amazon, kc, covtype, credit "
                                "or mnist; get: download mnist, covtype or an "
                                "address"},
    OWN(OPT_WHAT) = {.name = "what",
                     .kind = VALUE_TEXT,
                     .value = "WHAT",
                     .help = "the data, the recipe, or the address"},
    OWN(OPT_MODEL_FILE) = {.name = "model-file",
                           .kind = VALUE_TEXT,
                           .value = "MODEL",
                           .help = "a model in LIBLINEAR's text form, ours or "
                                   "theirs, or a network in safetensors"},
    OWN(OPT_PREDICTIONS) = {.name = "predictions",
                            .kind = VALUE_TEXT,
                            .value = "OUT",
                            .help = "write the predictions there, as text, "
                                    ".csv or .npy (default: standard output)"},
    OWN(OPT_MODEL_ACTION) = {.name = "model-action",
                             .kind = VALUE_CHOICE,
                             .value = "ACTION",
                             .choices = "show|convert",
                             .help = "show what is in it, or convert it"},
    OWN(OPT_CONVERTED) = {.name = "converted",
                          .kind = VALUE_TEXT,
                          .value = "OUT",
                          .help =
                              "the file to write, by its ending: .npy, "
                              ".safetensors, .csv; .txt, .model or none for "
                              "LIBLINEAR text; - is standard output"},
    OWN(OPT_CODE_NAME) =
        {.name = "code-name",
         .kind = VALUE_TEXT,
         .value = "NAME",
         .help = "the code to look at, with its settings: agc:collect=5"},
    OWN(OPT_RUN) = {.name = "run",
                    .kind = VALUE_TEXT,
                    .value = "RUN",
                    .help = "the run's folder"},
    OWN(OPT_FACTOR) = {.name = "factor",
                       .kind = VALUE_TEXT,
                       .value = "A",
                       .help = "a matrix of numbers, npy: what is multiplied"},
    OWN(OPT_COLUMNS) = {.name = "columns",
                        .kind = VALUE_TEXT,
                        .value = "B",
                        .help = "a vector or a matrix, npy, as many rows as A "
                                "has columns: what it is multiplied by"},
    OWN(OPT_PRODUCT) = {.name = "product",
                        .kind = VALUE_TEXT,
                        .value = "OUT",
                        .help = "write A times B there, npy in doubles"},
    OWN(OPT_EXPERIMENT) = {.name = "experiment",
                           .kind = VALUE_TEXT,
                           .value = "NAME",
                           .help = "which one, several with commas, or all; "
                                   "without it they are listed"},
    OWN(OPT_ENGINE) = {.name = "engine",
                       .kind = VALUE_CHOICE,
                       .value = "ENGINE",
                       .choices = "ssh|slurm|ranks",
                       .help = "what starts the workers: ssh; slurm, with "
                               "the coordinator as a job of its own; or "
                               "ranks: srun or mpirun has started them all"},
    OWN(OPT_HOSTFILE) = {.name = "hostfile",
                         .aliases = "machinefile",
                         .kind = VALUE_TEXT,
                         .value = "FILE",
                         .help = "a host on each line: [user@]host, slots=N "
                                 "behind it for N workers; # begins a "
                                 "comment"},
    OWN(OPT_HOSTS) = {.name = "hosts",
                      .aliases = "host",
                      .kind = VALUE_TEXT,
                      .adds = ',',
                      .value = "LIST",
                      .help = "the same in one line: node1,node2:4,ann@node3"},
    OWN(OPT_RESTART) = {.name = "restart",
                        .kind = VALUE_FLAG,
                        .help = "start a worker that died again, and try a "
                                "host that was not reached, with pauses of 1 "
                                "to 30 s"},
    OWN(OPT_SBATCH) = {.name = "sbatch",
                       .kind = VALUE_TEXT,
                       .adds = ' ',
                       .value = "OPTIONS",
                       .help = "slurm: more options of both jobs: "
                               "--sbatch=\"--partition=short --time=60\""},
    OWN(OPT_PRINT) = {.name = "print",
                      .kind = VALUE_FLAG,
                      .help = "slurm: print the two scripts, submit nothing"},
    OWN(OPT_REMOTE) = {.name = "remote",
                       .kind = VALUE_TEXT,
                       .value = "PATH",
                       .shown = "muster in PATH or ~/.local/bin, or where it "
                                "is here",
                       .help = "the program muster on those machines"},
    OWN(OPT_SSH_CONFIG) = {.name = "ssh-config",
                           .kind = VALUE_TEXT,
                           .value = "FILE",
                           .shown = "yours and the system's",
                           .help = "configuration of ssh (ssh -F): ports, "
                                   "users, keys, jump hosts"},
    OWN(OPT_CHUNK_CACHE) = {.name = "chunk-cache",
                            .kind = VALUE_TEXT,
                            .value = "DIR",
                            .shown = "~/.cache/muster/chunks",
                            .help = "where to keep the chunks that this worker "
                                    "was sent; none: nowhere"},
    OWN(OPT_RAW) = {.name = "raw",
                    .kind = VALUE_TEXT,
                    .value = "FOLDER",
                    .help = "prepare: where the raw files are"},
    OWN(OPT_TO) = {.name = "to",
                   .kind = VALUE_TEXT,
                   .value = "FILE",
                   .help = "write the page there"},
    OWN(OPT_PRICE) = {.name = "price",
                      .kind = VALUE_REAL,
                      .value = "DOLLARS",
                      LIMITS(0, 1e9),
                      .help = "what a worker costs an hour: say what the run "
                              "cost, and what waiting for everyone would have"},
    OWN(OPT_CACHE_SIZE) = {.name = "cache-size",
                           .kind = VALUE_REAL,
                           .value = "GIB",
                           LIMITS(0, 1e6),
                           .initial = "10",
                           .help = "keep no more chunks than that"},
    OWN(OPT_SHA256) = {.name = "sha256",
                       .kind = VALUE_TEXT,
                       .value = "HASH",
                       .help = "get: refuse a file with another SHA-256"},
    OWN(OPT_DEMO) = {.name = "demo",
                     .kind = VALUE_FLAG,
                     .help = "eight workers, one slow, and you may kill any"},
    OWN(OPT_FROM) =
        {.name = "from",
         .kind = VALUE_TEXT,
         .value = "PATH",
         .help = "the cluster's token, from which a worker's is derived"},
    OWN(OPT_RECORD) = {.name = "record",
                       .kind = VALUE_TEXT,
                       .value = "FILE",
                       .help =
                           "write every worker's delay in every step there, "
                           "as a trace for `muster plan` and --delay",
                       .traits = TRAIT(RECORD)},
    OWN(OPT_TRACE) = {.name = "trace",
                      .kind = VALUE_TEXT,
                      .value = "FILE",
                      .help =
                          "write who did what from when to when there, on one "
                          "clock, for ui.perfetto.dev",
                      .traits = TRAIT(TRACE)},
    OWN(OPT_WHY_SLOW) = {.name = "why-slow",
                         .kind = VALUE_FLAG,
                         .help =
                             "say who is behind the median worker, by how "
                             "much, and whether compute, network, disk or a "
                             "pause is to blame"},
    OWN(OPT_COMPUTE) = {.name = "compute",
                        .kind = VALUE_FLAG,
                        .initial = "yes",
                        .help = "no gradients, times only"},
    OWN(OPT_SERIES) =
        {.name = "series",
         .kind = VALUE_FLAG,
         .help = "add time, loss and error of the gradient of every step"},
    OWN(OPT_FAULTS) = {.name = "faults",
                       .kind = VALUE_FLAG,
                       .help = "test the protocol: random crashes, losses and "
                               "power cuts from --seed or --seeds",
                       .traits = TRAIT(FAULTS)},
    OWN(OPT_SEEDS) = {.name = "seeds",
                      .kind = VALUE_SPAN,
                      .value = "A:B",
                      LIMITS(0, SEED_MAX),
                      .help = "with --faults: all seeds from A to B",
                      .traits = TRAIT(SEEDS)},
    OWN(OPT_WORK) = {.name = "work",
                     .kind = VALUE_REAL,
                     .value = "S",
                     LIMITS(0, 1e6),
                     .shown = "0; with gradients 1 ms a chunk and a network",
                     .help = "virtual seconds in which a worker computes its "
                             "share of the data; nothing else takes time then"},
    OWN(OPT_COMPARE) = {.name = "compare",
                        .kind = VALUE_TEXT,
                        .adds = ',',
                        .value = "CODES",
                        .help = "several codes under the same delays: "
                                "uncoded,frc:s=2,agc:s=2:collect=11",
                        .traits = TRAIT(COMPARE)},
    OWN(OPT_CSV) = {.name = "csv",
                    .kind = VALUE_TEXT,
                    .value = "FILE",
                    .help = "write a line for every step there"},
    OWN(OPT_PLOT) = {.name = "plot",
                     .kind = VALUE_TEXT,
                     .value = "FILE",
                     .help =
                         "draw it there, as SVG: progress against time, step "
                         "times, who worked when"},
    OWN(OPT_FILTERS) =
        {.name = "filters",
         .kind = VALUE_TEXT,
         .value = "NAMES",
         .shown = "those that suit the rows",
         .help = "entropy: choose among these: label, intensity, "
                 "block:I,J, edges, projection:K, column:K (from 1, as "
                 "encoded: a column of words is as many as it has words), "
                 "joined by +"},
    OWN(OPT_QUICK) = {.name = "quick",
                      .kind = VALUE_FLAG,
                      .help = "smaller data, fewer steps: to see that it works "
                              "and how it looks"},
    OWN(OPT_VIRTUAL) = {.name = "virtual",
                        .kind = VALUE_FLAG,
                        .help = "the simulator instead of real processes, "
                                "where there is a choice"},
    OWN(OPT_PLAN_ACTION) = {.name = "plan-action",
                            .kind = VALUE_CHOICE,
                            .value = "ACTION",
                            .choices = "choose|fit|generate",
                            .initial = "choose",
                            .help =
                                "choose: score the codes; fit: name the "
                                "delays of a trace; generate: write a trace "
                                "of --delay"},
    OWN(OPT_PLAN_FROM) = {.name = "plan-from",
                          .kind = VALUE_TEXT,
                          .value = "FILE",
                          .help = "choose, fit: a trace; generate: the file to "
                                  "write"},
    OWN(OPT_ROWS) = {.name = "rows",
                     .kind = VALUE_COUNT,
                     .value = "N",
                     LIMITS(1, 1 << 30),
                     .help = "rows of the data, of which a step has --batch"},
    OWN(OPT_GFLOPS) = {.name = "gflops",
                       .kind = VALUE_REAL,
                       .value = "G",
                       LIMITS(1e-6, 1e9),
                       .help = "of --net: 10^9 floating-point operations a "
                               "second that a worker makes, instead of "
                               "--work"},
    OWN(OPT_NOISE) = {.name = "noise-scale",
                      .kind = VALUE_REAL,
                      .value = "B",
                      LIMITS(0, REAL_MAX),
                      .initial = "1",
                      .help = "gradient noise scale over the rows of the data: "
                              "what rows left out of a step cost"},
    OWN(OPT_COPIES) =
        {.name = "copies",
         .kind = VALUE_REAL,
         .value = "C",
         LIMITS(1, RECIPE_WORKERS_MAX),
         .help = "no code that stores the data more often than so many times"},
    OWN(OPT_SILENT) = {.name = "silent",
                       .kind = VALUE_TEXT,
                       .value = "A,B,..",
                       .help = "workers that do not answer, from 0: show the "
                               "weights of the others"},
    OWN(OPT_RULES) = {.name = "rules",
                      .kind = VALUE_FLAG,
                      .help = "what does not go together, and why"},
    OWN(OPT_PROBABILITY) = {.name = "probability",
                            .aliases = "b",
                            .kind = VALUE_FLAG,
                            .help = "also the probability of each label "
                                    "(logistic and softmax models)"},
    OWN(OPT_TOP) = {.name = "top",
                    .kind = VALUE_COUNT,
                    .value = "K",
                    LIMITS(1, 1024),
                    .help = "the K likeliest labels, each with its probability "
                            "(logistic and softmax models)"},
    OWN(OPT_CONFUSION) = {.name = "confusion",
                          .kind = VALUE_FLAG,
                          .help = "also how often each label was said of rows "
                                  "of each label, with recall and precision"},
    OWN(OPT_STYLE) = {.name = "style",
                      .kind = VALUE_CHOICE,
                      .value = "STYLE",
                      .choices = "lines|csv",
                      .shown = "csv for OUT.csv, else lines",
                      .help = "lines as LIBLINEAR writes them, or csv with a "
                              "header and scores"},
    OWN(OPT_MAN) = {.name = "man",
                    .kind = VALUE_FLAG,
                    .help = "print the manual page"},
    OWN(OPT_COMPLETION) = {.name = "completion",
                           .kind = VALUE_CHOICE,
                           .value = "SHELL",
                           .choices = "bash|zsh",
                           .help = "print completions for bash or zsh"},
    OWN(OPT_FORMAT) = {.name = "format",
                       .kind = VALUE_CHOICE,
                       .value = "FORM",
                       .choices = "text|json",
                       .initial = "text",
                       .help = "text or json: results on standard output"},
    OWN(OPT_QUIET) = {.name = "quiet",
                      .aliases = "q",
                      .kind = VALUE_FLAG,
                      .help = "no progress"},
    OWN(OPT_FORCE) = {.name = "force",
                      .kind = VALUE_FLAG,
                      .help = "write over a file that holds something else"},
    OWN(OPT_CONFIG) = {.name = "config",
                       .kind = VALUE_TEXT,
                       .value = "FILE",
                       .help = "more flags, one per line"},
    OWN(OPT_PRINT_CONFIG) = {.name = "print-config",
                             .kind = VALUE_FLAG,
                             .help = "show each value and where it came from"},
    OWN(OPT_HELP) = {.name = "help",
                     .aliases = "h",
                     .kind = VALUE_FLAG,
                     .help = "this text"},
};

const struct option_use *option_uses(void)
{
    return uses;
}

const struct option_use *option_use(int id)
{
    for (int i = 0; i < OPTIONS; i++)
        if (uses[i].id == id)
            return &uses[i];
    CHECK(false);
    return NULL;
}

const struct option *option_row(int id)
{
    CHECK(id >= 0 && id < OPTIONS);
    return id < RECIPE_OPTIONS ? recipe_row(id) : &own[id - RECIPE_OPTIONS];
}
