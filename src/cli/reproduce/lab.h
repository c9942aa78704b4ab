/*
 * lab.h - one experiment of `muster reproduce` under way: the runs of muster
 * that it needs, and what they came to as tables, plots and remarks.
 *
 * An experiment calls lab_run for each run and reads numbers from the JSON that
 * the run printed, which stays in the experiment's folder: every number on a
 * page comes from such a file, is the paper's and marked so, or is a constant
 * of which the page says where it comes from.  The first
 * failure is kept; from then on lab_run does nothing and numbers are NaN, so
 * that experiments need not look after every line.
 */
#ifndef CLI_LAB_H
#define CLI_LAB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/pages/page.h"

#define LAB_PATH 1024u

struct lab;

struct experiment {
    const char *name;
    const char *title;
    const char *source;  /* Which of the papers, and where in it. */
    const char *claim;   /* What it says. */
    const char *differs; /* What we do otherwise, and why. */
    void (*run)(struct lab *lab);
};

enum lab_scale {
    LAB_LINEAR,
    LAB_LOG_X = 1 << 0,
    LAB_LOG_Y = 1 << 1,
};

struct lab {
    const struct experiment *experiment;
    const char *raw; /* Folder of data sets that the user has; NULL: none. */
    char folder[LAB_PATH];
    bool quick;        /* Less of everything. */
    bool virtual_time; /* The simulator where there is a choice. */
    const char *flags; /* Behind the name, with a space before each: the same
                          words give this page again. */
    /* Told of every run before it starts; NULL: nobody. */
    void (*note)(void *context, const char *program, const char *words);
    void *context;
    uint32_t runs;
    enum err err; /* The first failure, and why. */
    struct why why;
    json_t *page; /* tables, plots, remarks, commands */
};

/* May an experiment write there?  It need not be there. */
MUST_CHECK enum err lab_vet_folder(const char *folder, struct why *why);

/* `folder` is made if it is not there. */
MUST_CHECK enum err lab_open(struct lab *lab);
void lab_close(struct lab *lab);

/* What a run may come to without being a failure. */
enum lab_end {
    LAB_DONE,  /* Exit status 0 only. */
    LAB_ENDED, /* 1 as well, if it diverged or has not converged: a run that
                  failed otherwise has no figures, and ends the experiment. */
};

/* Is what a run of muster printed, with this exit status, no failure? */
bool lab_allows(enum lab_end worst, int code, const json_t *run);

/* Run `muster WORDS --format json`; words are cut at spaces.  NULL after a
 * failure; otherwise the object belongs to the lab.  The same words once more
 * are not run again: what they came to is returned. */
__attribute__((format(printf, 3, 4))) json_t *
lab_run(struct lab *lab, enum lab_end worst, const char *format, ...);
/* Run an example program that came with muster, likewise. */
__attribute__((format(printf, 3, 4))) json_t *
lab_example(struct lab *lab, const char *name, const char *format, ...);
/* What is at a path such as "runs.0.metrics.auc"; NaN if nothing is. */
double lab_number(const json_t *json, const char *path);
const char *lab_text(const json_t *json, const char *path); /* "" likewise. */
/* A number for a cell, or a dash for NaN; in `out`, which is returned. */
#define LAB_SHOWN 24u
const char *lab_shown(double value, int digits, char out[LAB_SHOWN]);

bool lab_diverged(const json_t *run);
/* How a run ended that did not end well: a sentence, or "" if it did. */
const char *lab_trouble(const json_t *run);

/* A data set by its name in `muster data prepare` (amazon, kc, covtype,
 * credit): what that said of NAME-train.svm and NAME-test.svm in the folder, or
 * NULL if it is not at hand; then the page says how to get it, and that
 * `instead` takes its place. */
const json_t *lab_data(struct lab *lab, const char *name, const char *instead);
/* Its raw files, in a folder NAME; NULL likewise. */
const char *lab_link(struct lab *lab, const char *name, const char *instead);

/* Say how many processors there are, where runs have up to `most` processes of
 * one thread each. */
void lab_processors(struct lab *lab, uint32_t most);
/* Say how many of the runs are of real processes, and how many simulated. */
void lab_tell_kinds(struct lab *lab);
/* Say how many of the runs diverged, if any did. */
void lab_tell_diverged(struct lab *lab);

/* What a run with workers, of lab_run, wrote down of its steps, in the folder
 * that it chose: a name of the experiment's would be taken when it is made
 * again.  The caller's; NULL after a failure. */
json_t *lab_history(struct lab *lab, const json_t *run);
/* A small file in the folder, for runs to read. */
void lab_file(struct lab *lab, const char *name, const char *text);
/* Likewise what was put together; `made` is closed. */
void lab_save(struct lab *lab, const char *name, struct page *made);
/* A draw in [0, 1) that every run repeats. */
double lab_draw(uint64_t *state);

/* Columns and cells are cut at '|'. */
json_t *lab_table(struct lab *lab, const char *title, const char *columns);
__attribute__((format(printf, 2, 3))) void lab_row(json_t *table,
                                                   const char *format, ...);
/* `file` is the name of its SVG and CSV, without an ending. */
json_t *lab_plot(struct lab *lab, const char *file, const char *title,
                 const char *x, const char *y, enum lab_scale scale);
/* `theory`: not measured; drawn as a dashed line. */
json_t *lab_line(json_t *plot, const char *label, bool theory);
void lab_point(json_t *line, double x, double y);

#define LAB_LINES 3u

/* A table and a plot of the same runs. */
struct lab_chart {
    const char *table, *columns;      /* As for lab_table. */
    const char *file, *title, *x, *y; /* As for lab_plot. */
    enum lab_scale scale;
    const char *measured[LAB_LINES]; /* Labels of lines; fewer: NULL. */
    const char *theory;              /* One that was not; NULL: none. */
};

struct lab_drawn {
    json_t *table;
    json_t *lines[LAB_LINES];
    json_t *theory;
};

struct lab_drawn lab_chart(struct lab *lab, const struct lab_chart *of);

__attribute__((format(printf, 2, 3))) void lab_remark(struct lab *lab,
                                                      const char *format, ...);

#endif /* CLI_LAB_H */
