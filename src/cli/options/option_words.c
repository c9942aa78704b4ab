/*
 * option_words.c - what some commands call an option that means something else
 * to them; the row of option_table.c has the words for the others.
 */
#include "cli/options/options.h"

struct own_words {
    int id;
    struct option_words words;
};

static const struct own_words list[] = {
    {OPT_INTERFACE,
     {.commands = CMD_JOIN,
      .help = "the network card, or its address, to dial from"}},
    {OPT_HELP,
     {.commands = CMD_TRAIN | CMD_SIMULATE,
      .help = "this text; --help all has every option"}},
    {OPT_NAME, {.commands = CMD_JOIN, .help = "this worker's name"}},
    {OPT_NAME, {.commands = CMD_RELAY, .help = "this relay's name"}},
    {OPT_DATA, {.commands = CMD_SIMULATE, .initial = "gen:gmm"}},
    {OPT_ADDRESS,
     {.commands = CMD_JOIN,
      .value = "HOST:PORT|RUN",
      .help = "address of the coordinator, of a relay, or of any peer of a "
              "ring; several with commas between are tried in turn. Or the "
              "folder of a run here"}},
    {OPT_ADDRESS,
     {.commands = CMD_RELAY,
      .value = "HOST:PORT|RUN",
      .help = "address of the coordinator, or of a relay; several with commas "
              "between are tried in turn. Or the folder of a run here"}},
    {OPT_SAVE,
     {.commands = CMD_JOIN,
      .help = "a ring: write the model there, with which every peer of it "
              "ends"}},
    {OPT_FORCE,
     {.commands = CMD_JOIN,
      .help = "let --save take the place of what is no model"}},
    {OPT_ADDRESS,
     {.commands = CMD_STATUS | CMD_STOP | CMD_SET,
      .shown = "the run that is going on here, or the latest"}},
    {OPT_RUN, {.commands = CMD_REPORT, .shown = "the latest run here"}},
    {OPT_DATA_PRIVATE,
     {.commands = CMD_JOIN,
      .help = "the rows of this worker, which never leave it"}},
    {OPT_LABELS,
     {.commands = CMD_JOIN,
      .help = "idx, npy, npz: the labels of the private rows"}},
    {OPT_INPUT,
     {.commands = CMD_JOIN,
      .help = "form of the private rows: libsvm, csv, tsv, idx, npy or "
              "npz"}},
    {OPT_DATA_SHARED,
     {.commands = CMD_JOIN,
      .help = "where the shared data is on this machine: a path or an https "
              "address"}},
    {OPT_SHIP,
     {.commands = CMD_JOIN,
      .help = "where rows come from: also from other joiners, who are sent "
              "theirs from here (peers), or from the coordinator alone: this "
              "worker opens no port and dials no other"}},
    {OPT_METRIC,
     {.commands = CMD_PREDICT,
      .help = "what to show first: accuracy, precision, recall, f1, auc, "
              "logloss, mse or r2"}},
    {OPT_SEED, {.commands = CMD_CODES, .help = "of random coefficients"}},
    {OPT_SEED, {.commands = CMD_PLAN, .help = "of random delays"}},
    {OPT_SEED, {.commands = CMD_DATA, .help = "of generated data"}},
    {OPT_NET,
     {.commands = CMD_PLAN,
      .help = "the network that is trained, or a file that holds its text: "
              "what a row costs"}},
    {OPT_SHAPE,
     {.commands = CMD_PLAN,
      .help = "of --net: what a row is, HEIGHTxWIDTHxCHANNELS",
      .shown = ""}},
    {OPT_BATCH, {.commands = CMD_PLAN, .help = "rows of a step, of --rows"}},
    {OPT_BATCH_PER_WORKER,
     {.commands = CMD_PLAN, .help = "the same, for each worker"}},
    {OPT_PASSES,
     {.commands = CMD_PLAN,
      .help = "how often each row is seen: how long all steps take",
      .shown = ""}},
    {OPT_STEPS,
     {.commands = CMD_PLAN,
      .help = "steps to replay, or to generate",
      .shown = "those of the trace, else 1000"}},
    {OPT_N,
     {.commands = CMD_SIMULATE | CMD_CODES, .help = "workers", .shown = "8"}},
    {OPT_N,
     {.commands = CMD_PLAN,
      .help = "workers",
      .shown = "those of the trace, else 8"}},
    {OPT_WORKERS,
     {.commands = CMD_SIMULATE | CMD_PLAN,
      .value = "N",
      .help = "the same as -n",
      .shown = ""}},
    {OPT_N, {.commands = CMD_PRODUCT, .help = "local workers", .shown = "1"}},
    {OPT_CODE,
     {.commands = CMD_PRODUCT,
      .help =
          "how A is coded: mds:k=K (any K of N answers do), cec:l=L (any L, "
          "who come and go), uncoded (all N must)",
      .shown = "mds; one worker: uncoded"}},
    {OPT_STRAGGLERS,
     {.commands = CMD_PRODUCT,
      .help = "workers that may be slow or dead, where --code says no k=K"}},
    {OPT_CHAOS,
     {.commands = CMD_PRODUCT,
      .help = "kill:w3@20, stop:w2@10+5, kill:coordinator@30, leave:w1@40, "
              "join@25, kill=RATE/s, ..."}},
    {OPT_SEED, {.commands = CMD_PRODUCT, .help = "of random coefficients"}},
    {OPT_OUT,
     {.commands = CMD_PRODUCT,
      .help = "keep the run's state in this folder, which `muster join` and "
              "`muster status` take; one that is there is gone on with",
      .shown = "a folder that is gone afterwards"}},
    {OPT_CODE,
     {.commands = CMD_PLAN,
      .help = "what runs now, which the gain is over",
      .shown = "uncoded"}},
    {OPT_STRAGGLERS,
     {.commands = CMD_PLAN,
      .help = "of --code and --compare, where they do not say s=S"}},
    {OPT_EXACT,
     {.commands = CMD_PLAN,
      .help = "the worst class to choose from: bitwise, numeric or approx",
      .shown = "bitwise"}},
    {OPT_THREADS,
     {.commands = CMD_JOIN,
      .help = "threads to compute with",
      .shown = "all processors"}},
    {OPT_WORKERS,
     {.commands = CMD_LAUNCH,
      .help =
          "begin when MIN are there, or some after 60 s; take up to MAX: so "
          "many elements the array of slurm has",
      .shown = "ssh: those who are reached; ranks: all"}},
    {OPT_THREADS,
     {.commands = CMD_LAUNCH,
      .help = "threads of each worker",
      .shown = "ssh, ranks: a share of the processors; slurm: 1"}},
    {OPT_THREADS,
     {.commands = CMD_DATA,
      .help = "threads to read with",
      .shown = "all processors"}},
    {OPT_LISTEN,
     {.commands = CMD_JOIN,
      .help = "a ring: where its other peers reach this one",
      .shown = "any port"}},
    {OPT_LISTEN,
     {.commands = CMD_RELAY, .help = "where `muster join` finds the relay"}},
    {OPT_FANOUT,
     {.commands = CMD_SIMULATE,
      .help = "with --faults: relays in all seeds, F workers each",
      .shown = "in every fourth seed"}},
    {OPT_NAME,
     {.commands = CMD_TOKEN,
      .help = "with --from: the only name under which the new token joins",
      .shown = ""}},
    {OPT_TO,
     {.commands = CMD_DATA,
      .help = "prepare: how the new files' names begin; get: the file or "
              "folder to write",
      .shown = "get: the name"}},
    {OPT_TO,
     {.commands = CMD_REPORT,
      .help = "the page to write",
      .shown = "RUN/report.html"}},
    {OPT_TO,
     {.commands = CMD_REPRODUCE,
      .help = "the folder for pages, CSV, SVG and what the runs printed",
      .shown = "muster-results"}},
    {OPT_RAW,
     {.commands = CMD_REPRODUCE,
      .help = "where data sets are that you have: FOLDER/amazon, kc, covtype, "
              "credit, mnist; what is missing is stood in for by generated "
              "rows, and the page says so"}},
    {OPT_PREEMPT_NOTICE,
     {.commands = CMD_JOIN,
      .help = "leave once the provider takes this machine away: aws, gcp, "
              "azure or file:PATH (there is such a file)"}},
    {OPT_WORK, {.commands = CMD_PLAN, .shown = "what the trace says, else 1"}},
    {OPT_COMPARE,
     {.commands = CMD_PLAN,
      .help = "choose among these: uncoded,frc:s=2,agc:s=2:collect=11",
      .shown = "all that fit"}},
    {OPT_PLOT,
     {.commands = CMD_CODES, .help = "draw the matrix there, as SVG"}},
    {OPT_PLOT,
     {.commands = CMD_DATA,
      .help = "entropy: draw it against the share of rows, as SVG"}},
};

static const char *either(const char *own, const char *common)
{
    return own != NULL ? own : common;
}

struct option_words option_words(int id, uint32_t command)
{
    const struct option *row = option_row(id);
    struct option_words words = {.commands = option_use(id)->commands,
                                 .value = row->value,
                                 .help = row->help,
                                 .initial = row->initial,
                                 .shown = row->shown};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const struct option_words *own = &list[i].words;

        if (list[i].id != id || (own->commands & command) == 0)
            continue;
        words.commands = own->commands;
        words.value = either(own->value, words.value);
        words.help = either(own->help, words.help);
        words.initial = either(own->initial, words.initial);
        words.shown = either(own->shown, words.shown);
    }
    words.shown = either(words.shown, words.initial);
    /* Nobody wants to read "default no" of a flag. */
    if (row->kind == VALUE_FLAG ||
        (words.shown != NULL && words.shown[0] == '\0'))
        words.shown = NULL;
    return words;
}
