/*
 * study.h - one code under given delays in virtual time: what a comparison,
 * a table or a picture is made of.
 *
 * With gradients it is a run of the core (sim/sim.h); without, of its fast
 * path (plan/replay.h).  Delays are functions of (seed, step, slot), so that
 * all codes of a comparison see the same.
 */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "cli/show/ages.h"
#include "core/trace.h"
#include "learn/setup.h"
#include "plan/candidate.h"
#include "plan/replay.h"

#define STUDIES_MAX 16u

struct study_options {
    const struct setup *setup;
    bool compute;  /* Real gradients. */
    bool trace;    /* Measure the metric at every step, keep points. */
    bool errors;   /* Measure how far approximate steps are off. */
    bool lanes;    /* Keep who did what in the first steps. */
    double work_s; /* NaN: not said. */
    uint32_t steps;
    uint64_t seed;
    /* Everything that happens (`--trace`), or NULL; then the core runs also
     * where its fast path would do. */
    void (*watch)(void *context, const struct trace *trace);
    void *watch_context;
};

struct study_point {
    double t_s; /* At the end of the step. */
    double step_s;
    double covered; /* Without gradients: share of the data in the step. */
    double loss;    /* With gradients ... */
    double error;  /* ... how far that of the step was off (sim/truth.h), ... */
    double metric; /* ... and a test set; else NaN. */
};

struct study {
    struct candidate candidate;
    enum exactness exactness;
    uint32_t workers;
    uint32_t steps;
    uint32_t stalled; /* Steps that never ended: left out of all means. */
    double mean_step_s, total_s, coverage;
    struct ages ages; /* staleness. */
    bool computed;
    struct digest hash;
    double loss;
    double *weights; /* NULL unless computed. */
    struct study_point *points;
    uint32_t point_count;
    struct replay_slot *lanes; /* lane_steps x workers. */
    uint32_t lane_steps;
    char (*switches)[TRACE_TEXT]; /* Changes of code, and why. */
    uint32_t switch_count;
    size_t switch_capacity;
};

/* Zeroed memory is safe to close, also after a failure. */
MUST_CHECK enum err study_run(const struct study_options *options,
                              const struct candidate *candidate,
                              struct study *study, struct why *why);
void study_close(struct study *study);

/* cli/study/study_show.c: text, JSON, CSV. */
struct cli;
void study_show(const struct cli *cli, const struct setup *setup,
                const struct study *studies, uint32_t count, bool compared);
MUST_CHECK enum err study_write_csv(const struct setup *setup,
                                    const struct study *studies, uint32_t count,
                                    const char *path, struct why *why);
/* cli/study/study_plot.c */
MUST_CHECK enum err study_write_plot(const struct setup *setup,
                                     const struct study *studies,
                                     uint32_t count, const char *path,
                                     struct why *why);

#endif /* CLI_STUDY_H */
