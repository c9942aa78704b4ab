/*
 * rules.c - the table of what goes with what, and who breaks a rule of it.
 *
 * A sentence may name what was chosen: <code>, <optim>, <model>, and <it>, the
 * one of `any` that is there.  Rules are tried from the top.
 */
#include "code/rules.h"

#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "code/axes.h"

_Static_assert(TRAITS <= 8 * sizeof(trait_set), "a bit for each trait");

#define THERE "files are read where they are; say it to `muster join`"

/* Of a flag, its name; of a code, those that have the trait. */
static const char *const names[TRAITS] = {
    [TRAIT_SUMS] = "a code but local",
    [TRAIT_AVERAGES] = "code local",
    [TRAIT_MIXTURES] = "a code of class numeric, local or sgc",
    [TRAIT_BLOCKS] = "code mds",
    [TRAIT_ELASTIC] = "code cec",
    [TRAIT_LATE] = "code ignore:staleness=B",
    [TRAIT_COPIES] = "a code but steal, uncoded, ignore or local",
    [TRAIT_SAMPLES] = "code flexent",
    [TRAIT_MATRIX] = "code matrix",
    [TRAIT_HASTY] = "code ignore, or a deadline",
    [TRAIT_NUMERIC] = "numeric",
    [TRAIT_APPROX] = "approx",
    [TRAIT_ESTIMATE] = "code sgc, local or ignore:staleness=B",
    [TRAIT_ADAPTS] = "--code auto",
    [TRAIT_ADAPTS_FAR] = "--code auto without --exact bitwise",
    [TRAIT_CODE] = "--code",
    [TRAIT_ALONE] = "no workers",
    [TRAIT_WORKERS] = "workers",
    [TRAIT_LOCAL_WORKERS] = "-n",
    [TRAIT_STAR] = "--topology star",
    [TRAIT_RING] = "--topology ring",
    [TRAIT_PEERS] = "--peers",
    [TRAIT_MPI] = "--topology mpi",
    [TRAIT_RELAYS] = "--fanout",
    [TRAIT_SHM] = "--bulk shm",
    [TRAIT_UNSEALED] = "--bulk plain",
    [TRAIT_NEEDS_WORKERS] = "--code",
    [TRAIT_STARTED] = "--chaos",
    [TRAIT_CHECKED] = "--verify",
    [TRAIT_LIES] = "--chaos lie:",
    [TRAIT_ON_CENTRE] = "--chaos kill:coordinator",
    [TRAIT_DELAY] = "--delay",
    [TRAIT_RECORD] = "--record",
    [TRAIT_WANTS_BITWISE] = "--exact bitwise",
    [TRAIT_WANTS_NUMERIC] = "--exact numeric",
    [TRAIT_DATA] = "DATA",
    [TRAIT_OWNERS] = "--owners",
    [TRAIT_SHARED] = "--data-shared",
    [TRAIT_SHIP] = "--ship",
    [TRAIT_READING] = "--label",
    [TRAIT_CATEGORIES] = "--categorical",
    [TRAIT_MEANS] = "--scale",
    [TRAIT_DROP] = "--drop",
    [TRAIT_STORAGE] = "--storage",
    [TRAIT_CLASS_WEIGHT] = "--class-weight",
    [TRAIT_VALID] = "--valid",
    [TRAIT_VALID_PART] = "--valid PART",
    [TRAIT_FUNCTION] = "a gradient function",
    [TRAIT_NO_HESSVEC] = "no hessvec function",
    [TRAIT_NET] = "--net",
    [TRAIT_INIT] = "--init",
    [TRAIT_CLASSES] = "--model softmax",
    [TRAIT_LOSS] = "--loss",
    [TRAIT_NOT_SVM] = "a model but svm",
    [TRAIT_SEARCHES] = "--optim lbfgs or newton",
    [TRAIT_NEWTON] = "--optim newton",
    [TRAIT_PLAIN] = "--optim but lbfgs or newton",
    [TRAIT_ACCURACY] = "--accuracy",
    [TRAIT_SGD] = "--optim sgd",
    [TRAIT_AGD] = "--optim agd",
    [TRAIT_MEMORY] = "--optim but gd or sgd",
    [TRAIT_RATED] = "--optim gd, agd, momentum or nesterov",
    [TRAIT_NO_RATE] = "no --lr",
    [TRAIT_RATE] = "--lr",
    [TRAIT_RATE_RULE] = "--schedule",
    [TRAIT_MOMENTUM] = "--momentum",
    [TRAIT_STEADY] = "--optim but momentum or nesterov",
    [TRAIT_BATCH] = "--batch",
    [TRAIT_SCATTERED] = "--shuffle rows",
    [TRAIT_PASSES] = "--passes",
    [TRAIT_PATIENCE] = "--patience",
    [TRAIT_ENDS] = "--tol",
    [TRAIT_GAP] = "--gap",
    [TRAIT_NO_OPTIMUM] = "no --optimum",
    [TRAIT_MANY] = "--grid",
    [TRAIT_FOLDS] = "-v",
    [TRAIT_SIZES] = "--grid n=N,N",
    [TRAIT_GATHERS] = "--listen",
    [TRAIT_SAVE] = "MODEL",
    [TRAIT_NO_SAVE] = "no MODEL",
    [TRAIT_TEST] = "--test",
    [TRAIT_FAULTS] = "--faults",
    [TRAIT_ONE_RUN] = "no --faults",
    [TRAIT_SEEDS] = "--seeds",
    [TRAIT_TRACE] = "--trace",
    [TRAIT_COMPARE] = "--compare",
    [TRAIT_NO_COMPUTE] = "--no-compute",
};

static const struct rule rules[] = {
    {TRAIT(ALONE), TRAIT(NEEDS_WORKERS),
     "<it> needs workers; add -n N, the number of them"},

    {TRAIT(ALONE) | TRAIT(TRACE), 0,
     "--trace draws what workers do, and there are none; add -n N, the number "
     "of them"},

    /* Optimisers. */
    {TRAIT(FUNCTION) | TRAIT(SGD), 0,
     "--optim sgd needs the rows themselves, not their sums; lbfgs does not"},
    {TRAIT(FUNCTION) | TRAIT(NEWTON) | TRAIT(NO_HESSVEC), 0,
     "--optim newton needs a hessvec function; lbfgs does not"},
    {TRAIT(SUMS) | TRAIT(SGD), 0,
     "--optim sgd goes from row to row, each step needing the one before, so "
     "there is nothing to share among workers; leave out -n, --listen and "
     "--out, average what each makes of its own rows (--code "
     "local:h=once), or take --optim lbfgs, newton or agd"},
    {TRAIT(SGD), TRAIT(RATE_RULE) | TRAIT(ENDS),
     "<it> means nothing to --optim sgd: its rate is RATE / (1 + rows seen), "
     "and it ends after --steps passes over the rows"},
    {TRAIT(STEADY) | TRAIT(MOMENTUM), 0,
     "--momentum means nothing to --optim <optim>; take --optim momentum or "
     "nesterov"},
    /* Of lbfgs a rate is the first step's length. */
    {TRAIT(NEWTON) | TRAIT(RATE), 0,
     "--lr means nothing to --optim newton, which searches for the length of "
     "every step; take gd, agd, momentum, nesterov, adam or adamw"},
    {TRAIT(SEARCHES), TRAIT(RATE_RULE),
     "<it> means nothing to --optim <optim>, which searches for the length of "
     "every step; take gd, agd, momentum, nesterov, adam or adamw"},
    {TRAIT(PLAIN) | TRAIT(ACCURACY), 0,
     "--accuracy goes by an estimate of what is left to gain, and --optim "
     "<optim> has none; take --optim lbfgs or newton (others end "
     "by --tol)"},
    {TRAIT(AVERAGES) | TRAIT(MEMORY), 0,
     "code <code> averages the weights of gd or sgd; --optim <optim> keeps "
     "more than weights"},
    {TRAIT(AVERAGES), TRAIT(ENDS),
     "<it> means nothing to code <code>: no worker sees the gradient of all "
     "rows"},
    {TRAIT(APPROX) | TRAIT(BLOCKS) | TRAIT(SEARCHES), 0,
     "--optim <optim> compares sums to many digits, and code <code> restores "
     "fewer here: leave out --storage f32 if that is given, take fewer "
     "stragglers, or --optim agd"},
    {TRAIT(APPROX) | TRAIT(SEARCHES), 0,
     "--optim <optim> compares sums over all rows, and code <code> leaves some "
     "out; take an exact code (steal, frc, rep, uncoded) or --optim agd"},
    {TRAIT(LATE) | TRAIT(SEARCHES), 0,
     "staleness needs steps of one gradient each, and --optim <optim> asks "
     "for more; take agd, gd, momentum or adam"},
    {TRAIT(GAP) | TRAIT(NO_OPTIMUM), 0,
     "--gap needs --optimum F, the least objective"},

    /* Minibatches. */
    {TRAIT(SEARCHES), TRAIT(BATCH),
     "--optim <optim> compares sums of one step with those of another, and "
     "with <it> they are over other rows; take gd, momentum, nesterov, adam "
     "or adamw"},
    {TRAIT(SEARCHES), TRAIT(PASSES),
     "a step of --optim <optim> takes as many passes over the rows as it "
     "needs; say --steps instead of <it>"},
    {TRAIT(SGD), TRAIT(BATCH),
     "--optim sgd goes from row to row and has no batches; --optim gd with "
     "<it> is minibatch SGD"},
    {TRAIT(AGD), TRAIT(BATCH),
     "--optim agd leans on earlier gradients more with every step, so that the "
     "noise of <it> grows without end; take nesterov, which does not"},
    {TRAIT(FUNCTION), TRAIT(BATCH),
     "<it> needs the rows themselves; a gradient function knows chunks only"},
    {TRAIT(BATCH), TRAIT(ENDS),
     "<it> goes by the gradient of all rows, and a step of --batch knows that "
     "of its own; say --passes or --steps"},
    {TRAIT(BLOCKS), TRAIT(BATCH),
     "code <code> multiplies by coded data, all rows at once; with <it> take "
     "a code of rows (steal, frc, rep, ignore, agc)"},
    {TRAIT(AVERAGES), TRAIT(BATCH),
     "code <code> lets each worker step over its own rows; leave out <it>, or "
     "take another code"},
    {TRAIT(LATE), TRAIT(BATCH),
     "staleness adds answers of several steps, and with <it> they are over "
     "other rows; leave one of them out"},

    {TRAIT(NO_COMPUTE), TRAIT(BATCH) | TRAIT(VALID) | TRAIT(PATIENCE),
     "<it> needs rows; leave out --no-compute"},

    /* Early stopping. */
    {TRAIT(SEARCHES) | TRAIT(PATIENCE), 0,
     "--patience counts passes over the rows, and --optim <optim> goes to the "
     "optimum by steps of many; take --batch B or another optimiser, or a "
     "larger --l2"},
    {TRAIT(SGD) | TRAIT(PATIENCE), 0,
     "--patience does not go with --optim sgd, which keeps nothing between its "
     "passes; --optim gd with --batch is minibatch SGD"},
    {TRAIT(AVERAGES) | TRAIT(PATIENCE), 0,
     "--patience counts passes over the rows, and with code <code> each worker "
     "makes its own; take another code"},
    {TRAIT(PATIENCE), TRAIT(ENDS),
     "<it> and --patience both say when to end; leave one of them out"},
    {TRAIT(FUNCTION) | TRAIT(PATIENCE), 0,
     "--patience needs rows to hold out; a gradient function has none"},
    {TRAIT(PATIENCE), TRAIT(MANY) | TRAIT(FOLDS),
     "<it> measures its trainings by the rows that --patience would end them "
     "by; leave one of them out"},
    {TRAIT(PATIENCE) | TRAIT(FAULTS), 0,
     "--faults draws what is trained by itself; leave out --patience"},

    /* Models. */
    {TRAIT(FUNCTION), TRAIT(BLOCKS) | TRAIT(AVERAGES) | TRAIT(MATRIX),
     "code <code> needs the rows themselves or a file; take steal"},
    {TRAIT(BLOCKS) | TRAIT(CLASSES), 0,
     "code <code> codes the data of one weight vector, and --model <model> has "
     "one for each class; take cb or steal"},
    {TRAIT(CLASSES) | TRAIT(SGD), 0,
     "--optim sgd has one weight vector, and --model <model> has one for each "
     "class; --optim gd --batch 1 goes from row to row, too"},
    {TRAIT(LOSS) | TRAIT(NOT_SVM), 0, "--loss goes with --model svm"},
    {TRAIT(NET) | TRAIT(FAULTS), 0,
     "--faults draws what is trained by itself; leave out --net"},
    {TRAIT(INIT), TRAIT(MEANS) | TRAIT(CATEGORIES) | TRAIT(DROP),
     "<it> does not go with --init: columns are read as those of its model "
     "were"},
    {TRAIT(INIT) | TRAIT(OWNERS), 0,
     "--init does not go with --owners: columns of all owners would have to be "
     "compared with its model's"},
    {TRAIT(INIT), TRAIT(MANY) | TRAIT(FOLDS),
     "<it> judges trainings by rows that they have not seen, and the model of "
     "--init may have seen them; leave out --init"},
    {TRAIT(INIT) | TRAIT(SGD), 0,
     "--optim sgd begins at 0; with --init take gd and --batch, adam or "
     "another one"},

    /* Rows that stay with their owners. */
    {TRAIT(OWNERS) | TRAIT(DATA), 0,
     "--owners trains on its owners' rows and takes no DATA of its own "
     "(in a ring: --data-private FILE); name the model's file with --save"},
    {TRAIT(OWNERS) | TRAIT(STAR), TRAIT(LOCAL_WORKERS),
     "<it> does not go with --owners: workers are the owners, who join "
     "by themselves"},
    {TRAIT(OWNERS) | TRAIT(SHARED), 0,
     "--data-shared does not go with private rows: they are nowhere to be read "
     "by all"},
    {TRAIT(OWNERS) | TRAIT(SHIP), 0,
     "--ship does not go with --owners: private rows are sent by "
     "nobody"},
    {TRAIT(OWNERS), TRAIT(CHECKED),
     "<it> does not go with --owners: only an owner can compute its "
     "rows, so there is nobody to compare it with"},
    {TRAIT(OWNERS) | TRAIT(RELAYS), 0,
     "relays do not go with --owners: owners join the coordinator "
     "itself"},
    {TRAIT(OWNERS) | TRAIT(LATE), 0,
     "staleness does not go with --owners: late answers are kept by "
     "slots "
     "that all can fill"},
    {TRAIT(OWNERS) | TRAIT(CLASS_WEIGHT), 0,
     "--class-weight does not go with --owners: weights would depend on "
     "rows that are elsewhere"},
    {TRAIT(OWNERS) | TRAIT(STORAGE), 0,
     "--storage does not go with --owners: every owner stores its rows "
     "by itself"},
    {TRAIT(OWNERS), TRAIT(CATEGORIES),
     "<it> does not go with --owners: categories of all owners would "
     "have to be known"},
    {TRAIT(OWNERS), TRAIT(MEANS),
     "<it> does not go with --owners: means of all owners' columns would "
     "have to be known"},
    {TRAIT(OWNERS) | TRAIT(STAR), TRAIT(READING),
     "<it> does not go with --owners: " THERE},
    {TRAIT(OWNERS) | TRAIT(VALID_PART), 0,
     "--valid PART does not go with --owners: there are no rows here to "
     "hold out; give it a FILE"},
    {TRAIT(OWNERS) | TRAIT(SCATTERED), 0,
     "--shuffle rows draws every batch from all rows, and private rows stay "
     "where they are; leave it out, or say --shuffle local"},
    {TRAIT(OWNERS), TRAIT(COPIES) | TRAIT(ADAPTS),
     "code <code> gives rows to several workers, and private rows stay where "
     "they are; take steal, uncoded or ignore"},
    {TRAIT(OWNERS) | TRAIT(AVERAGES), 0,
     "code <code> deals the rows out evenly, and private rows stay where they "
     "are; take steal, uncoded or ignore"},
    {TRAIT(OWNERS) | TRAIT(RATED) | TRAIT(NO_RATE), 0,
     "--optim <optim> needs --lr RATE: there are no rows here to work it out "
     "from"},

    /* Other ways of rows and answers. */
    {TRAIT(BLOCKS) | TRAIT(SHARED), 0,
     "code <code> sends each worker its block of coded data, and --data-shared "
     "has only rows; leave it out, or take steal or cb"},
    {TRAIT(BLOCKS) | TRAIT(RELAYS), 0,
     "relays do not go with code <code>: they keep vectors as long as the "
     "model, not as the rows; leave out --fanout, or take another code"},
    {TRAIT(SAMPLES) | TRAIT(RELAYS), 0,
     "relays do not go with code <code>: they add answers up, and those of "
     "samples are kept apart; leave out --fanout, or take another code"},
    {TRAIT(SAMPLES) | TRAIT(SCATTERED), 0,
     "code <code> samples the rows of each worker, and --shuffle rows draws "
     "batches from all; leave it out, or say --shuffle local"},
    {TRAIT(SAMPLES) | TRAIT(FUNCTION), 0,
     "code <code> needs the rows themselves; a gradient function knows chunks "
     "only"},
    {TRAIT(RELAYS) | TRAIT(SHM), 0,
     "--bulk shm does not go with --fanout: workers behind relays share no "
     "memory with the coordinator; leave one of them out"},
    {TRAIT(LATE) | TRAIT(RECORD), 0,
     "--record measures answers within their step, and with staleness they may "
     "come in later ones"},

    /* Peers without a coordinator. */
    {TRAIT(STAR) | TRAIT(PEERS), 0,
     "--peers names peers of a ring; add --topology ring, or let machines "
     "join this run (`muster join`)"},
    {TRAIT(STAR) | TRAIT(UNSEALED), 0,
     "--bulk plain is of a ring; add --topology ring, or take --bulk tcp"},
    {TRAIT(OWNERS) | TRAIT(UNSEALED), 0,
     "--bulk plain does not go with --owners: whoever is on the way would read "
     "sums of private rows; take --bulk tcp"},
    {TRAIT(RING), TRAIT(CODE) | TRAIT(NUMERIC) | TRAIT(APPROX),
     "<it> does not go with --topology ring: its peers share the chunks of a "
     "step evenly, to the last bit, and compute what a dead one leaves; leave "
     "it out"},
    {TRAIT(RING), TRAIT(RELAYS),
     "<it> does not go with --topology ring: relays stand between workers and "
     "a coordinator, and it has none; leave it out"},
    {TRAIT(RING), TRAIT(CHECKED),
     "<it> does not go with --topology ring: peers compare the models they "
     "have come to, not the answers to a piece; leave it out"},
    {TRAIT(RING) | TRAIT(LIES), 0,
     "--chaos lie: does not go with --topology ring: a coordinator is lied "
     "to, and it has none"},
    {TRAIT(RING) | TRAIT(ON_CENTRE), 0,
     "--chaos kills a coordinator, and --topology ring has none; name a peer "
     "(w0, w1, ...), or take --topology star"},
    {TRAIT(RING) | TRAIT(DELAY), 0,
     "--delay does not go with --topology ring: a coordinator says who is to "
     "be slow, and it has none; leave it out, or take --topology star"},
    {TRAIT(RING) | TRAIT(RECORD), 0,
     "--record measures how long answers take to a coordinator, and "
     "--topology ring has none; leave it out"},
    {TRAIT(RING), TRAIT(SHARED) | TRAIT(SHIP),
     "<it> does not go with --topology ring: each machine of it reads the "
     "data itself, or is sent all rows by its peers (`muster join`)"},
    {TRAIT(RING) | TRAIT(FUNCTION), 0,
     "a gradient function does not go with --topology ring: its peers would "
     "have to know it"},
    {TRAIT(RING), TRAIT(MANY),
     "<it> trains many times with the same workers, and a ring's peers end "
     "with their model; leave out --topology ring"},

    /* Ranks of an MPI job. */
    {TRAIT(MPI) | TRAIT(LOCAL_WORKERS), 0,
     "-n does not go with --topology mpi: how many ranks there are is said to "
     "mpirun (-np N); leave it out"},
    {TRAIT(MPI), TRAIT(GATHERS) | TRAIT(PEERS),
     "<it> does not go with --topology mpi: its ranks are there from the first "
     "step to the last, and nobody joins them; leave it out"},
    {TRAIT(MPI), TRAIT(CODE) | TRAIT(NUMERIC) | TRAIT(APPROX),
     "<it> does not go with --topology mpi: its ranks share the chunks of a "
     "step evenly, to the last bit, and wait for each other; leave it out"},
    {TRAIT(MPI), TRAIT(RELAYS),
     "<it> does not go with --topology mpi: MPI adds up by a tree of its own; "
     "leave it out"},
    {TRAIT(MPI), TRAIT(CHECKED),
     "<it> does not go with --topology mpi: no two ranks compute the same "
     "chunk; leave it out, or take --topology star"},
    {TRAIT(MPI), TRAIT(DELAY),
     "<it> does not go with --topology mpi: a coordinator says who is to be "
     "slow, and it has none; leave it out, or take --topology star"},
    {TRAIT(MPI), TRAIT(RECORD) | TRAIT(TRACE),
     "<it> is of answers to a coordinator, and --topology mpi has none; leave "
     "it out"},
    {TRAIT(MPI), TRAIT(SHARED) | TRAIT(SHIP),
     "<it> does not go with --topology mpi: every rank reads the data itself; "
     "leave it out"},
    {TRAIT(MPI) | TRAIT(OWNERS), 0,
     "--owners does not go with --topology mpi: owners come by themselves, and "
     "mpirun starts ranks; take --topology star or ring"},
    {TRAIT(MPI) | TRAIT(SGD), 0,
     "--optim sgd goes from row to row, so there is nothing to share among "
     "ranks; leave out --topology mpi, or take --optim gd with --batch"},
    {TRAIT(MPI), TRAIT(MANY),
     "<it> trains many times, and ranks of --topology mpi once; leave one of "
     "them out"},
    {TRAIT(MPI), TRAIT(STARTED),
     "<it> is of processes that muster starts, and those of --topology mpi are "
     "mpirun's; leave it out"},

    /* Answers that are compared. */
    {TRAIT(MIXTURES), TRAIT(CHECKED),
     "<it> compares two workers' answers bit for bit, and code <code> answers "
     "with rounded mixtures that no two workers share; take steal, frc, rep, "
     "stream or partial-frc"},
    {TRAIT(BLOCKS) | TRAIT(LIES), 0,
     "--chaos lie: makes sums of gradients wrong, and code <code> answers with "
     "products of coded data, which nobody compares; leave it out, or train "
     "with a code of rows (steal, frc)"},
    {TRAIT(HASTY), TRAIT(CHECKED),
     "<it> waits for second answers, and code <code> ends a step without them; "
     "take steal, frc, rep, stream, partial-frc or agc"},
    {TRAIT(ADAPTS_FAR), TRAIT(CHECKED),
     "<it> goes with bitwise codes only; let --code auto stay with them "
     "(--exact bitwise)"},

    /* Classes. */
    {TRAIT(WANTS_BITWISE), TRAIT(NUMERIC) | TRAIT(APPROX),
     "code <code> gives <it> steps, which --exact bitwise refuses; `muster "
     "codes` lists the class of each"},
    {TRAIT(WANTS_NUMERIC), TRAIT(APPROX),
     "code <code> gives <it> steps, which --exact numeric refuses; `muster "
     "codes` lists the class of each"},

    /* Folds and grids: many runs. */
    {TRAIT(OWNERS), TRAIT(MANY),
     "<it> holds rows out, and private rows stay where they are; leave out "
     "--owners"},
    {TRAIT(SHARED), TRAIT(MANY),
     "<it> leaves rows out, and --data-shared has all of them; leave it out: "
     "workers are sent what they lack once"},
    {TRAIT(MANY), TRAIT(RECORD) | TRAIT(TRACE),
     "<it> is of one run, and folds and grids are many; leave it out"},
    {TRAIT(SIZES), TRAIT(GATHERS),
     "--grid n=... says how many workers are started here for each training, "
     "and <it> how many are waited for; leave one of them out"},
    {TRAIT(FOLDS) | TRAIT(VALID), 0,
     "-v holds out rows by itself; leave out --valid"},
    {TRAIT(FOLDS) | TRAIT(SAVE), 0,
     "-v makes no model that could be written; leave out MODEL"},
    {TRAIT(FOLDS) | TRAIT(TEST), 0,
     "--test measures a model, and -v makes none; leave it out"},
    {TRAIT(TEST) | TRAIT(NO_SAVE), TRAIT(MANY),
     "--test measures a model, and <it> makes none without MODEL, the file to "
     "write; leave it out"},

    /* The simulator. */
    {TRAIT(FAULTS) | TRAIT(TRACE), 0,
     "--trace shows a run without --faults; --seed N prints what happens in "
     "that one"},
    {TRAIT(SEEDS) | TRAIT(ONE_RUN), 0,
     "--seeds goes with --faults; one run takes --seed"},
    {TRAIT(RELAYS) | TRAIT(ONE_RUN), 0,
     "--fanout goes with --faults: where no message takes time relays change "
     "nothing"},
    {TRAIT(TRACE) | TRAIT(COMPARE), 0,
     "--trace shows one run; leave out --compare"},
    {TRAIT(TRACE) | TRAIT(AVERAGES) | TRAIT(NO_COMPUTE), 0,
     "--trace: code <code> is traced only with gradients; leave out "
     "--no-compute"},
};

#define RULES (sizeof rules / sizeof *rules)

/* --- traits -------------------------------------------------------------- */

/* A step whose missing parts are estimated does not wait for a second answer
 * to any; but `agc` waits for whole groups, who answer alike. */
static bool is_hasty(const struct code_spec *spec)
{
    return spec->estimate != ESTIMATE_EXACT &&
           !(spec->placement == PLACE_REP && spec->stop == STOP_COLLECT);
}

trait_set code_traits(const struct code_spec *spec)
{
    const struct placement_ops *place = placement_ops(spec->placement);
    trait_set traits = place->traits;

    if ((traits & TRAIT(AVERAGES)) == 0)
        traits |= TRAIT(SUMS);
    if (place->carrier != CARRIER_TALLY)
        traits |= TRAIT(MIXTURES);
    if (is_hasty(spec))
        traits |= TRAIT(HASTY);
    /* Copies that are only touched on demand can be done without. */
    if (spec->schedule == SCHED_STEAL)
        traits &= ~TRAIT(COPIES);
    return traits;
}

static const struct {
    const char *name;
    trait_set traits;
} optimisers[] = {
    {"gd", TRAIT(STEADY) | TRAIT(PLAIN) | TRAIT(RATED)},
    {"agd",
     TRAIT(STEADY) | TRAIT(PLAIN) | TRAIT(RATED) | TRAIT(MEMORY) | TRAIT(AGD)},
    {"momentum", TRAIT(PLAIN) | TRAIT(RATED) | TRAIT(MEMORY)},
    {"nesterov", TRAIT(PLAIN) | TRAIT(RATED) | TRAIT(MEMORY)},
    {"adam", TRAIT(STEADY) | TRAIT(PLAIN) | TRAIT(MEMORY)},
    {"adamw", TRAIT(STEADY) | TRAIT(PLAIN) | TRAIT(MEMORY)},
    {"lbfgs", TRAIT(STEADY) | TRAIT(SEARCHES) | TRAIT(MEMORY)},
    {"newton", TRAIT(STEADY) | TRAIT(SEARCHES) | TRAIT(MEMORY) | TRAIT(NEWTON)},
    {"sgd", TRAIT(STEADY) | TRAIT(PLAIN) | TRAIT(SGD)},
};

const char *trait_name(enum trait trait)
{
    CHECK(trait < TRAITS);
    return names[trait];
}

/* --- choices ------------------------------------------------------------- */

void choices_add(struct choices *choices, trait_set traits, const char *name)
{
    choices->traits |= traits;
    for (int i = 0; i < TRAITS; i++)
        if ((traits >> i & 1) != 0 && choices->name[i] == NULL)
            choices->name[i] = name;
}

void choices_code(struct choices *choices, const struct code_spec *spec)
{
    choices->code = spec->name;
    choices_add(choices, code_traits(spec), NULL);
}

void choices_optim(struct choices *choices, const char *name)
{
    for (size_t i = 0; i < sizeof optimisers / sizeof *optimisers; i++)
        if (strcmp(optimisers[i].name, name) == 0)
            choices_add(choices, optimisers[i].traits, NULL);
    choices->optim = name;
}

void choices_class(struct choices *choices, enum exactness class,
                   enum exactness wanted)
{
    if (class != EXACT_BITWISE)
        choices_add(choices,
                    class == EXACT_NUMERIC ? TRAIT(NUMERIC) : TRAIT(APPROX),
                    NULL);
    if (wanted != EXACT_APPROX)
        choices_add(choices,
                    wanted == EXACT_BITWISE ? TRAIT(WANTS_BITWISE)
                                            : TRAIT(WANTS_NUMERIC),
                    NULL);
}

/* --- asking -------------------------------------------------------------- */

static bool broken(const struct rule *rule, trait_set traits)
{
    return (traits & rule->all) == rule->all &&
           (rule->any == 0 || (traits & rule->any) != 0);
}

static const struct rule *find_broken(trait_set traits)
{
    for (size_t i = 0; i < RULES; i++)
        if (broken(&rules[i], traits))
            return &rules[i];
    return NULL;
}

bool rules_allow(trait_set traits)
{
    return find_broken(traits) == NULL;
}

const struct rule *rule_list(uint32_t *count)
{
    *count = (uint32_t)RULES;
    return rules;
}

/* A sentence in the making; what does not fit is cut off. */
struct draft {
    char text[WHY_SIZE];
    size_t used;
};

static void put(struct draft *draft, const char *from, size_t length)
{
    const size_t room = sizeof draft->text - 1 - draft->used;

    length = length < room ? length : room;
    memcpy(draft->text + draft->used, from, length);
    draft->used += length;
}

static void put_text(struct draft *draft, const char *text)
{
    put(draft, text, strlen(text));
}

/* The first of `any` that is there, as it was said. */
static void put_it(struct draft *draft, const struct choices *choices,
                   trait_set any)
{
    int it = 0;

    CHECK((choices->traits & any) != 0);
    while (((choices->traits & any) >> it & 1) == 0)
        it++;
    if (choices->name[it] == NULL) {
        put_text(draft, names[it]);
        return;
    }
    put_text(draft, choices->name[it][1] == '\0' ? "-" : "--");
    put_text(draft, choices->name[it]);
}

/* What stands for the mark at `mark`; returns the mark's length. */
static size_t put_mark(struct draft *draft, const struct choices *choices,
                       const struct rule *rule, const char *mark)
{
    const size_t length = strcspn(mark, ">") + 1;
    const char *text = NULL;

    if (strncmp(mark, "<code>", length) == 0)
        text = choices->code;
    else if (strncmp(mark, "<optim>", length) == 0)
        text = choices->optim;
    else if (strncmp(mark, "<model>", length) == 0)
        text = choices->model;
    else
        put_it(draft, choices, rule->any);
    if (text != NULL)
        put_text(draft, text);
    return length;
}

/* The dashes of a flag that begins at `at`. */
static size_t dashes(const char *text, const char *at)
{
    const size_t count = strspn(at, "-");
    const bool inside = at > text && isalnum((unsigned char)at[-1]);

    return !inside && isalpha((unsigned char)at[count]) ? count : 0;
}

static void drop_dashes(struct draft *draft)
{
    size_t kept = 0;

    for (size_t i = 0; i < draft->used; i++) {
        i += dashes(draft->text, draft->text + i);
        draft->text[kept++] = draft->text[i];
    }
    draft->text[kept] = '\0';
}

static enum err tell(const struct choices *choices, const struct rule *rule,
                     struct why *why)
{
    struct draft draft = {.used = 0};

    for (const char *at = rule->why; *at != '\0';) {
        const size_t plain = strcspn(at, "<");

        put(&draft, at, plain);
        at += plain;
        if (*at == '<')
            at += put_mark(&draft, choices, rule, at);
    }
    draft.text[draft.used] = '\0';
    if (choices->fields)
        drop_dashes(&draft);
    return why_set(why, ERR_SHAPE, "%s", draft.text);
}

enum err rules_check(const struct choices *choices, struct why *why)
{
    const struct rule *rule = find_broken(choices->traits);

    return rule == NULL ? ERR_OK : tell(choices, rule, why);
}

enum err rules_check_code(const struct code_spec *code, const char *optim,
                          struct why *why)
{
    struct choices choices = {0};

    choices_code(&choices, code);
    choices_optim(&choices, optim);
    return rules_check(&choices, why);
}
