/*
 * options.h - one table of options, from which everything else comes.
 *
 * Parsing, --help, --print-config, the environment, config files and the
 * `config` object of JSON results all read option_table(); a new option is one
 * row.  A value may come from four places, the stronger wins:
 *
 *     flag  >  environment (MUSTER_CHUNK_ROWS)  >  --config FILE  >  default
 *
 * Dashes and underscores are the same in a name; --name=value and --name value
 * are the same; a boolean has --no-name.  A config file has the same flags, one
 * per line, with or without the dashes in front; # starts a comment.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Bits: a row of the table says which commands take it. */
enum command_bit {
    CMD_TRAIN = 1 << 0,
    CMD_JOIN = 1 << 1,
    CMD_STATUS = 1 << 2,
    CMD_STOP = 1 << 3,
    CMD_TOKEN = 1 << 4,
    CMD_SIMULATE = 1 << 5,
    CMD_CODES = 1 << 6,
    CMD_VERSION = 1 << 7,
    CMD_HELP = 1 << 8,
    CMD_PREDICT = 1 << 9,
    CMD_MODEL = 1 << 10,
    CMD_DATA = 1 << 11,
    CMD_PLAN = 1 << 12,
    CMD_RELAY = 1 << 13,
    CMD_REPORT = 1 << 14,
    CMD_ALL = (1 << 15) - 1,
};

enum option_id {
    /* Positional arguments, which also have names. */
    OPT_DATA,
    OPT_SAVE,
    OPT_ADDRESS,
    OPT_ACTION,
    OPT_FILE,
    OPT_TOPIC,
    OPT_DATA_ACTION,
    OPT_WHAT,
    OPT_MODEL_FILE,
    OPT_PREDICTIONS,
    OPT_MODEL_ACTION,
    OPT_CONVERTED,
    OPT_CODE_NAME,
    OPT_RUN,
    /* How files are read. */
    OPT_INPUT,
    OPT_LABEL,
    OPT_LABELS,
    OPT_TEST_LABELS,
    OPT_CATEGORICAL,
    OPT_PAIRS,
    OPT_SCALE,
    OPT_MISSING,
    OPT_DROP,
    OPT_WEIGHT,
    OPT_HEADER,
    OPT_SEPARATOR,
    OPT_ZERO_BASED,
    OPT_STORAGE,
    OPT_CACHE,
    OPT_CACHE_SIZE,
    OPT_DATA_SHARED,
    OPT_SHIP,
    OPT_CA,
    OPT_DATA_PRIVATE,
    OPT_OWNER_WAIT,
    OPT_SHA256,
    /* What is learnt. */
    OPT_MODEL,
    OPT_LOSS,
    OPT_TEST,
    OPT_VALID,
    OPT_METRIC,
    OPT_NO_INTERCEPT,
    OPT_L2,
    OPT_CLASS_WEIGHT,
    OPT_CHUNK_ROWS,
    OPT_SEED,
    /* How. */
    OPT_OPTIM,
    OPT_LR,
    OPT_SCHEDULE,
    OPT_DECAY,
    OPT_MOMENTUM,
    OPT_STEPS,
    OPT_TOL,
    OPT_GAP,
    OPT_ACCURACY,
    OPT_OPTIMUM,
    OPT_MAX_TIME,
    /* Many runs at once. */
    OPT_FOLDS,
    OPT_GRID,
    /* LIBLINEAR's habit. */
    OPT_SOLVER,
    OPT_COST,
    OPT_EPS,
    OPT_BIAS,
    OPT_SVR_EPS,
    /* Who computes what. */
    OPT_N,
    OPT_WORKERS,
    OPT_CODE,
    OPT_STRAGGLERS,
    OPT_COLLECT,
    OPT_STOP,
    OPT_ESTIMATE,
    OPT_DECODE,
    OPT_PARTS,
    OPT_PIECES,
    OPT_REPLICAS,
    OPT_LOCAL,
    OPT_STALENESS,
    OPT_SPEEDS,
    OPT_EXACT,
    OPT_VERIFY,
    OPT_AUDIT,
    OPT_THREADS,
    OPT_ISA,
    /* Trouble on purpose. */
    OPT_DELAY,
    OPT_CHAOS,
    OPT_DEMO,
    /* The cluster. */
    OPT_LISTEN,
    OPT_INTERFACE,
    OPT_FANOUT,
    OPT_TOKEN_FILE,
    OPT_NAME,
    OPT_FROM,
    OPT_RESPAWN,
    OPT_OUT,
    OPT_RESUME,
    OPT_SYNC,
    OPT_BULK,
    OPT_RECORD,
    OPT_TRACE,
    OPT_WHY_SLOW,
    OPT_PREEMPT_NOTICE,
    OPT_PREEMPT_ADDRESS,
    /* The simulator. */
    OPT_COMPUTE,
    OPT_SERIES,
    OPT_FAULTS,
    OPT_SEEDS,
    OPT_WORK,
    OPT_COMPARE,
    OPT_CSV,
    OPT_PLOT,
    /* Plans. */
    OPT_PLAN_ACTION,
    OPT_PLAN_FROM,
    OPT_NOISE,
    OPT_COPIES,
    /* Codes shown. */
    OPT_SILENT,
    /* Predictions. */
    OPT_PROBABILITY,
    OPT_STYLE,
    /* Pages made from this table; not shown. */
    OPT_MAN,
    OPT_COMPLETION,
    /* Output. */
    OPT_FORMAT,
    OPT_QUIET,
    OPT_FORCE,
    OPT_CONFIG,
    OPT_PRINT_CONFIG,
    OPT_HELP,
    OPTIONS,
};

enum value_kind {
    VALUE_FLAG,   /* --name, --no-name, --name=yes|no. */
    VALUE_COUNT,  /* A whole number from min to max. */
    VALUE_REAL,   /* A number from min to max. */
    VALUE_TEXT,   /* Anything. */
    VALUE_CHOICE, /* One of a|b|c. */
    VALUE_SPAN,   /* A whole number, or two as LOW:HIGH. */
    VALUE_RUN,    /* Optional folder of a run: see options.c. */
};

struct option {
    const char *name;    /* As typed after the dashes; dashes inside. */
    const char *aliases; /* Others, "a|b"; NULL if none. */
    const char *section; /* Heading of --help; NULL: positional. */
    const char *value;   /* What --help calls the value. */
    double min, max;     /* COUNT, REAL, SPAN. */
    const char *choices; /* CHOICE: "a|b|c". */
    const char *initial; /* Default as text; NULL if unset or worked out. */
    const char *shown;   /* What --help says of a default worked out. */
    const char *help;    /* One line. */
    enum value_kind kind;
    bool takes_digit;  /* FLAG: "-b 1" and "-b 0" are one flag each. */
    uint32_t commands; /* enum command_bit. */
};

/* What --help of a command says of an option. */
struct option_words {
    uint32_t commands; /* Those that are told so. */
    const char *value; /* As in struct option; NULL if it takes none. */
    const char *help;
    const char *initial; /* As in struct option. */
    const char *shown;   /* The default; NULL if there is none to tell. */
};

enum origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_FLAG };

struct setting {
    const char *text; /* NULL: no value. */
    enum origin origin;
    uint64_t low, high; /* COUNT: low; SPAN: both; FLAG: low is 0 or 1. */
    double real;        /* REAL. */
};

#define POSITIONALS_MAX 3u

/* What a command takes. */
struct option_shape {
    enum command_bit command;
    enum option_id positional[POSITIONALS_MAX];
    uint32_t positional_count;
};

#define CLASS_WEIGHT_BYTES 256u

struct options {
    struct option_shape shape;
    struct setting setting[OPTIONS];
    char *files[2]; /* Text that settings point into. */
    /* -w1 5 -w-1 2 gathered as --class-weight 1=5,-1=2. */
    char *class_weight;
};

const struct option *option_table(void); /* OPTIONS rows. */
/* Of one command; 0: what those are told that need no words of their own. */
struct option_words option_words(enum option_id id, uint32_t command);

/* Read the words after the command, the environment and the config file, and
 * check every value.  ERR_UNKNOWN or ERR_RANGE (usage), ERR_IO or ERR_NOTFOUND
 * (the config file), each with a sentence.  `options` may be closed after any
 * outcome. */
MUST_CHECK enum err options_parse(struct options *options,
                                  const struct option_shape *shape, int argc,
                                  char *const *argv, struct why *why);
/* Take what is still at its default from a config file (a run's record). */
MUST_CHECK enum err options_read_file(struct options *options, const char *path,
                                      struct why *why);
void options_close(struct options *options);

/* The row of that name or alias, or OPTIONS. */
enum option_id option_find(const char *typed, size_t length);
bool option_takes(const struct options *options, enum option_id id);
bool option_given(const struct options *options, enum option_id id);
/* NULL if it has no value. */
const char *option_text(const struct options *options, enum option_id id);
bool option_flag(const struct options *options, enum option_id id);
uint64_t option_count(const struct options *options, enum option_id id);
double option_real(const struct options *options, enum option_id id);

/* Change a value that was worked out or that another option implies; the
 * text must live as long as `options`. */
MUST_CHECK enum err option_set(struct options *options, enum option_id id,
                               const char *text, enum origin origin,
                               struct why *why);

const char *origin_name(enum origin origin);

#endif /* CLI_OPTIONS_H */
