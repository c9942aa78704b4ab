/*
 * preset.h - the names people know, as rows of one table.
 *
 * uncoded  ignore (ksync)  frc  rep  cyclic  cb  partial-frc  partial-cyclic
 * matrix:FILE  mds  agc (erasurehead)  sgc  local  stream
 * steal
 * No preset is known outside this table.
 */
#ifndef CODE_PRESET_H
#define CODE_PRESET_H

#include "code/code.h"

struct preset {
    const char *name;
    const char *alias; /* NULL if none. */
    const char *line;  /* One line for `muster codes` and --help. */
    enum placement placement;
    enum schedule schedule;
    enum stop stop;
    enum estimate estimate;
    bool divisible;
};

struct preset_options {
    const char *name;     /* Up to a `:`; what follows is the caller's. */
    uint32_t stragglers;  /* s */
    uint32_t collect;     /* K of collect:k; 0 = not given. */
    const char *stop;     /* "first:3"; NULL = the preset's. */
    const char *estimate; /* NULL = the preset's. */
    uint32_t workers;     /* n, for defaults such as first:(n - s). */
    uint64_t seed;
    uint32_t parts, pieces, replicas; /* As in code_spec; 0 = default. */
    uint32_t staleness; /* ignore: B; 0 = what is late is called off. */
    enum decoding decoding;
    const struct code_matrix *matrix;
    const double *speed;
    uint32_t speeds;
    struct code_memory *memory;
    bool every_step; /* local: gd, averaged after each step. */
};

/* Does a code of that name (up to a `:`) read a matrix? */
bool preset_takes_matrix(const char *name);

/* Of a code of that name, as code_traits has them; of none, 0. */
uint64_t preset_traits(const char *name);

const struct preset *preset_list(uint32_t *count);

/* ERR_UNKNOWN (the sentence lists the names), ERR_SHAPE. */
MUST_CHECK enum err preset_spec(const struct preset_options *options,
                                struct code_spec *spec, struct why *why);

#endif /* CODE_PRESET_H */
