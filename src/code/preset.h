/*
 * preset.h - the names people know, as rows of one table.
 *
 * uncoded  ignore (ksync)  frc  rep  cyclic  cb  partial-frc  partial-cyclic
 * matrix:FILE  mds  cec (elastic)  agc (erasurehead)  sgc  flexent  local
 * stream  steal
 * What a code does follows from its row, not from its name.  By name others
 * know only the default; campaigns of the simulator, which have odds for each;
 * the codes that a report looks back at; and texts for people.
 */
#ifndef CODE_PRESET_H
#define CODE_PRESET_H

#include "code/code.h"
#include "code/rules.h"

#define AUTO_NAME    "auto"
#define DEFAULT_CODE "steal" /* Also where auto begins. */

/* What a code can be told, as KEY=VALUE behind its name. */
enum preset_key {
    KEY_S,
    KEY_K,
    KEY_COLLECT,
    KEY_PIECES,
    KEY_PARTS,
    KEY_REPLICAS,
    KEY_STALENESS,
    KEY_H,
    KEY_SPEEDS,
    KEY_DECODE,
    KEY_STOP,
    KEY_ESTIMATE,
    KEY_L,
    KEY_P,
    KEY_COPIES,
    KEY_RULE,
    KEY_SHADOWS,
    KEY_SIZE,
    KEY_SAMPLER,
    KEY_FILTERS,
    PRESET_KEYS,
};

struct preset {
    const char *name;
    const char *alias; /* NULL if none. */
    const char *line;  /* One line for `muster codes` and --help. */
    enum placement placement;
    enum schedule schedule;
    enum stop stop;
    enum estimate estimate;
    bool divisible;
    uint32_t keys; /* Bits: which settings mean something to it, ... */
#define PRESET_FILE (1u << PRESET_KEYS) /* ... and whether a file does. */
};

struct preset_options {
    const char *name;     /* Up to a `:`; what follows is not looked at. */
    uint32_t stragglers;  /* s ... */
    uint32_t enough;      /* ... or k = n - s; 0 = not given. */
    uint32_t collect;     /* K of collect:k; 0 = not given. */
    const char *stop;     /* "first:3"; NULL = the preset's. */
    const char *estimate; /* NULL = the preset's. */
    uint32_t workers;     /* n, for defaults such as first:(n - s). */
    uint64_t seed;
    uint32_t parts, pieces, replicas; /* As in code_spec; 0 = default. */
    uint32_t staleness;  /* ignore: B; 0 = what is late is called off. */
    uint32_t every;      /* local: steps between two averages, PRESET_ONCE. */
    bool by_rows;        /* local: sgd, whose single pass is no sum. */
    uint32_t l, blocks;  /* cec: L and P; 0 = default. */
    uint32_t copies;     /* cec: 1 or 2; 0 = 1. */
    const char *rule;    /* cec: wrap or cyclic; NULL = wrap. */
    uint32_t shadows;    /* flexent: S; 0 = 1. */
    const char *size;    /* ... "10%"; NULL = that. */
    const char *draw;    /* ... strata, random, entropy; NULL = strata. */
    const char *filters; /* ... "label+edges"; NULL = those that suit. */
    enum decoding decoding;
    const struct code_matrix *matrix;
    const double *speed;
    uint32_t speeds;
    struct code_memory *memory;
    /* As written, for the caller to read: NULL if not. */
    const char *file, *speed_text;
};

#define PRESET_ONCE UINT32_MAX

/* Does a code of that name (up to a `:`) read a file? */
bool preset_takes_file(const char *name);

/* Of a code of that name, as code_traits has them; of none, 0. */
trait_set preset_traits(const char *name);

/* NAME[:FILE][:KEY=VALUE]..., over what `options` have already.  The text is
 * cut up, and `options` point into it.  ERR_UNKNOWN, ERR_RANGE, ERR_SHAPE. */
MUST_CHECK enum err preset_parse(char *text, struct preset_options *options,
                                 struct why *why);
/* The same without asking for what a code cannot do without: who draws the
 * rest, or asks later. */
MUST_CHECK enum err preset_read(char *text, struct preset_options *options,
                                struct why *why);
/* Are the words among them (stop, estimate, rule) such?  As preset_spec, but
 * without asking what goes with how many workers. */
MUST_CHECK enum err preset_words(const struct preset_options *options,
                                 struct why *why);
/* The size of samples, "10%" or "0.1", as a share of the rows. */
MUST_CHECK enum err preset_size(const char *text, double *share,
                                struct why *why);
const char *preset_key_name(enum preset_key key);
const char *preset_key_help(enum preset_key key);

/* The row of a name, up to a `:`; NULL if there is none, which ERR_UNKNOWN
 * says with a list of the names. */
const struct preset *preset_find(const char *name);
MUST_CHECK enum err preset_unknown(const char *name, struct why *why);

const struct preset *preset_list(uint32_t *count);

/* ERR_UNKNOWN (the sentence lists the names), ERR_SHAPE. */
MUST_CHECK enum err preset_spec(const struct preset_options *options,
                                struct code_spec *spec, struct why *why);

#endif /* CODE_PRESET_H */
