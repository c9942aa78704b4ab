/*
 * options.h - the flags of the command line: the choices of a training, which
 * are the library's (learn/recipe/recipe.h), and those of the program itself.
 *
 * Parsing, --help, --print-config, the environment, config files and the
 * `config` object of JSON results all read the rows of these.  A value may come
 * from four places, the stronger wins:
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
#include "learn/recipe/recipe.h"

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
    CMD_PRODUCT = 1 << 15,
    CMD_REPRODUCE = 1 << 16,
    CMD_LAUNCH = 1 << 17,
    CMD_SET = 1 << 18,
    CMD_ALL = (1 << 19) - 1,
};

/* Those that are no choice of a training; their numbers go on where the
 * recipe's end.  A function that takes any of them takes an int. */
enum own_option {
    /* Positional arguments, which also have names. */
    OPT_SAVE = RECIPE_OPTIONS,
    OPT_ADDRESS,
    OPT_SETTING,
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
    OPT_FACTOR,
    OPT_COLUMNS,
    OPT_PRODUCT,
    OPT_EXPERIMENT,
    OPT_ENGINE,
    /* How files are read. */
    OPT_CHUNK_CACHE,
    OPT_CACHE_SIZE,
    OPT_RAW,
    OPT_TO,
    OPT_PRICE,
    OPT_SHA256,
    /* Trouble on purpose. */
    OPT_DEMO,
    /* The cluster. */
    OPT_FROM,
    OPT_RECORD,
    OPT_TRACE,
    OPT_WHY_SLOW,
    /* Other machines. */
    OPT_HOSTFILE,
    OPT_HOSTS,
    OPT_REMOTE,
    OPT_SSH_CONFIG,
    OPT_RESTART,
    OPT_PRINT,
    OPT_SBATCH,
    /* The simulator. */
    OPT_COMPUTE,
    OPT_SERIES,
    OPT_FAULTS,
    OPT_SEEDS,
    OPT_WORK,
    OPT_COMPARE,
    OPT_CSV,
    OPT_PLOT,
    OPT_FILTERS,
    /* Experiments. */
    OPT_QUICK,
    OPT_VIRTUAL,
    /* Plans. */
    OPT_PLAN_ACTION,
    OPT_PLAN_FROM,
    OPT_ROWS,
    OPT_GFLOPS,
    OPT_NOISE,
    OPT_COPIES,
    /* Codes shown. */
    OPT_SILENT,
    OPT_RULES,
    /* Predictions. */
    OPT_PROBABILITY,
    OPT_STYLE,
    OPT_TOP,
    OPT_CONFUSION,
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

/* What the command line adds to an option's row. */
struct option_use {
    int id;
    const char *section; /* Heading of --help; NULL: positional. */
    uint32_t commands;   /* enum command_bit. */
    uint32_t first;      /* Those whose --help has it; `--help all` has all. */
};

/* What --help of a command says of an option. */
struct option_words {
    uint32_t commands; /* Those that are told so. */
    const char *value; /* As in struct option; NULL if it takes none. */
    const char *help;
    const char *initial; /* As in struct option. */
    const char *shown;   /* The default; NULL if there is none to tell. */
};

#define POSITIONALS_MAX 3u

/* What a command takes. */
struct option_shape {
    enum command_bit command;
    int positional[POSITIONALS_MAX];
    uint32_t positional_count;
    bool rest; /* What stands behind -- is another command's. */
};

#define CLASS_WEIGHT_BYTES 256u
#define TROUBLES_MAX       8u /* As many as are told at once. */

struct options {
    struct option_shape shape;
    struct recipe recipe;
    struct setting own[OPTIONS - RECIPE_OPTIONS];
    /* -w1 5 -w-1 2 gathered as --class-weight 1=5,-1=2. */
    char *class_weight;
    bool help_all; /* --help all. */
    /* The words behind --, where the shape has a rest; they are the caller's.
     */
    char *const *rest;
    uint32_t rest_count;
    /* What is wrong besides the sentence that options_parse gives. */
    struct why *others;
    uint32_t other_count;
};

const struct option *option_row(int id);
/* OPTIONS of them, as --help has them; and that of one option. */
const struct option_use *option_uses(void);
const struct option_use *option_use(int id);
/* Of one command; 0: what those are told that need no words of their own. */
struct option_words option_words(int id, uint32_t command);

/* Read the words after the command, the environment and the config file, and
 * check every value.  ERR_UNKNOWN or ERR_RANGE (usage), ERR_IO or ERR_NOTFOUND
 * (the config file), each with a sentence; of words and environment all that is
 * wrong is in `others`, too.  `options` may be closed after any outcome. */
MUST_CHECK enum err options_parse(struct options *options,
                                  const struct option_shape *shape, int argc,
                                  char *const *argv, struct why *why);
/* Take what is still at its default from a config file (a run's record). */
MUST_CHECK enum err options_read_file(struct options *options, const char *path,
                                      struct why *why);
/* One more thing that is wrong, to be told behind the first. */
void options_note(struct options *options, const struct why *why);
void options_close(struct options *options);

/* ERR_UNKNOWN, with a sentence on what `typed`, which the command does not
 * take, is called here. */
MUST_CHECK enum err option_unknown(const struct options *options,
                                   const char *typed, struct why *why);
/* The row of that name or alias, or OPTIONS. */
int option_find(const char *typed, size_t length);
bool option_takes(const struct options *options, int id);
const struct setting *option_setting(const struct options *options, int id);
bool option_given(const struct options *options, int id);
/* NULL if it has no value. */
const char *option_text(const struct options *options, int id);
bool option_flag(const struct options *options, int id);
uint64_t option_count(const struct options *options, int id);
double option_real(const struct options *options, int id);

/* The traits of all that was given. */
void options_choose(const struct options *options, struct choices *choices);

/* Change a value that was worked out or that another option implies. */
MUST_CHECK enum err option_set(struct options *options, int id,
                               const char *text, enum origin origin,
                               struct why *why);

#endif /* CLI_OPTIONS_H */
