/*
 * option.h - one choice that somebody may make: what its row says of it, and
 * the value that a text gave it.
 *
 * The choices of a training are the rows of learn/recipe/recipe_table.c; a
 * program may have rows of its own beside them, with the same words.
 */
#ifndef LEARN_OPTION_H
#define LEARN_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "code/rules.h"

enum value_kind {
    VALUE_FLAG,   /* yes or no. */
    VALUE_COUNT,  /* A whole number from min to max. */
    VALUE_REAL,   /* A number from min to max. */
    VALUE_TEXT,   /* Anything. */
    VALUE_CHOICE, /* One of a|b|c. */
    VALUE_SPAN,   /* A whole number, or two as LOW:HIGH. */
    VALUE_RUN,    /* The folder of a run, or nothing: the latest. */
};

struct option {
    const char *name;    /* Dashes inside. */
    const char *aliases; /* Others, "a|b"; NULL if none. */
    const char *value;   /* What people are told to put there. */
    double min, max;     /* COUNT, REAL, SPAN. */
    const char *choices; /* CHOICE: "a|b|c". */
    const char *initial; /* Default as text; NULL if unset or worked out. */
    const char *shown;   /* What people are told of a default worked out. */
    const char *help;    /* One line. */
    enum value_kind kind;
    char adds;        /* TEXT, a list: put between what mentions say. */
    trait_set traits; /* What it means to code/rules.h if it is given. */
    /* TEXT of a grammar: ERR_OK, or a sentence; NULL: any will do. */
    enum err (*check)(const char *text, struct why *why);
};

/* Where a value came from; the later wins. */
enum origin { ORIGIN_DEFAULT, ORIGIN_FILE, ORIGIN_ENVIRONMENT, ORIGIN_FLAG };

const char *origin_name(enum origin origin);

/* A value; zeroed it has none. */
struct setting {
    char *text; /* Our copy; NULL: no value. */
    enum origin origin;
    uint64_t low, high; /* COUNT: low; SPAN: both; FLAG: low is 0 or 1. */
    double real;        /* REAL. */
};

/* Read the text as the row says, unless a stronger origin spoke before.
 * ERR_RANGE with a sentence, or ERR_NOMEM; the value is then as it was. */
MUST_CHECK enum err setting_put(struct setting *setting,
                                const struct option *row, const char *text,
                                enum origin origin, struct why *why);
/* The same, or where the row's mentions add up and one of this origin was there
 * before, behind that with a comma between. */
MUST_CHECK enum err setting_add(struct setting *setting,
                                const struct option *row, const char *text,
                                enum origin origin, struct why *why);
/* Over a setting that has no value. */
MUST_CHECK enum err setting_copy(struct setting *to,
                                 const struct setting *from);
void setting_close(struct setting *setting);

/* Was it given, not only worked out? */
bool setting_given(const struct setting *setting);
/* Add its traits if it was given; no and 0 have none. */
void setting_choose(const struct setting *setting, const struct option *row,
                    struct choices *choices);

/* Do `length` characters spell its name or an alias?  Dashes and underscores
 * are the same. */
bool option_named(const struct option *row, const char *typed, size_t length);

/* The nearest of its names to a mistyped one, aliases of one letter apart, in
 * `name`; how far it is (base/nearest.h). */
#define OPTION_NAME_SIZE 32u
size_t option_nearest(const struct option *row, const char *typed,
                      char name[OPTION_NAME_SIZE]);
/* The aliases of more than one letter: "--a, --b"; empty: none. */
#define OPTION_ALSO_SIZE 96u
const char *option_also(const struct option *row, char text[OPTION_ALSO_SIZE]);

/* What a flag of that name begins with. */
const char *option_dashes(const char *name);

/* "a|b|c" with blanks between. */
#define CHOICES_SIZE 128u
const char *option_choices(const struct option *row, char list[CHOICES_SIZE]);

#endif /* LEARN_OPTION_H */
