/*
 * optim.h - optimisers that do not own the loop.
 *
 * Reverse communication: the caller asks what to evaluate and feeds the
 * result; who computes it, where and how often it had to be redone is not the
 * optimiser's business.
 *
 *     while ((ask = optim_next(opt)).kind != ASK_DONE)
 *         optim_feed(opt, sums of ask.what, loss sum);
 *
 * A step is one update of the model.  It takes one evaluation (round) with gd,
 * agd, momentum and adam, and several with lbfgs and newton, whose line
 * searches and conjugate gradients need more.  (step, round) names an
 * evaluation: round counts from 0 and goes back to 0 at each update.
 *
 * Objective: f(w) = mean loss + l2 |w|^2 (l2 = `a` of the formulas below; free
 * weights, the intercepts, do not count in |w|^2, and a = 0 for them).  With g
 * the gradient sum, N the rows, G = g/N + 2 a w the gradient of f (of a batch:
 * its own rows, so that both are estimates):
 *
 *     gd        b <- (1 - 2 a eta) b - (eta/N) g(b)
 *     agd       th = 2/(i+2);  v = (1-th) b + th u;
 *               b+ = v - (eta/N) g(b) - 2 a eta b;  u = b + (b+ - b)/th;
 *               u_0 = b_0
 *     momentum  u <- mu u + G;  b <- b - eta u       (Polyak's heavy ball)
 *     nesterov  the same, but b <- b - eta (G + mu u)
 *     adam      u <- c1 u + (1-c1) G;  v <- c2 v + (1-c2) G^2;
 *               b <- b - eta (u / (1-c1^t)) / (sqrt(v / (1-c2^t)) + eps)
 *     adamw     adam with g/N for G, and b <- ... - 2 a eta b: the penalty acts
 *               on weights, not on moments (Loshchilov & Hutter, ICLR 2019)
 *     lbfgs     two-loop recursion over the last `memory` pairs about the
 *               metric, strong Wolfe line search (search.h)
 *     newton    f'' p = -G, then a line search along p.  Up to dense_max
 *               weights f'' is evaluated (HESSIAN) and factored, and serves
 *               several steps, corrected by pairs as in lbfgs; beyond, p comes
 *               from conjugate gradients in the metric, one HESSVEC each
 *               Where LINE can be evaluated both search on a line (line.c)
 *     average   b <- b + the mean displacement of the parts (EVALUATE_LOCAL,
 *               local.h): what is fed are means over the rows, not sums
 *     columns   no optimiser: step t asks for X b_t (EVALUATE_SCORES) with b_t
 *               the t-th of the vectors it was given, and keeps the answer
 *
 * The metric is the diagonal of f'' (DIAGONAL), evaluated at the start and now
 * and then: columns of 1000 beside columns of 0.001 are then no worse than
 * columns of one size.  Where it cannot be evaluated it is 1.
 *
 * Rates: enum optim_schedule; in the first `warmup` steps times (i + 1) /
 * warmup. Where G is longer than `clip`, clip / |G| multiplies it (gd and agd:
 * eta; adamw: g/N) in that step.  All sums run in fixed order (math/vec.h),
 * nothing is fused: the weights depend on the options and the fed sums alone,
 * to the bit.
 */
#ifndef OPTIM_OPTIM_H
#define OPTIM_OPTIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/pool.h"
#include "base/sampler.h"
#include "math/evaluation.h"
#include "optim/search.h"
#include "optim/trend.h"

#define OPTIM_MEMORY     10u /* Defaults: pairs of lbfgs, */
#define OPTIM_MEMORY_MAX 64u
#define OPTIM_DENSE_MAX  512u /* weights up to which newton factors, */
#define OPTIM_CG_MAX     100u /* HESSVEC rounds of one newton step. */
/* A Hessian of more weights would not be a vector of 2^31 numbers. */
#define OPTIM_DENSE_LIMIT 32768u

enum optim_kind {
    OPTIM_GD,
    OPTIM_AGD,
    OPTIM_MOMENTUM,
    OPTIM_ADAM,
    OPTIM_LBFGS,
    OPTIM_NEWTON,
    OPTIM_SGD,     /* Has no rounds: optim_init refuses it; see sgd.h. */
    OPTIM_AVERAGE, /* Of what others did by themselves: see local.h. */
    OPTIM_NESTEROV,
    OPTIM_ADAMW,
    OPTIM_COLUMNS, /* Products for their own sake: see columns.c. */
};

/* What a schedule needs of the options, beside the rate. */
enum {
    SCHEDULE_FACTOR = 1, /* `decay`, > 0. */
    SCHEDULE_STAIRS = 2, /* `decay_every`, > 0. */
    SCHEDULE_END = 4,    /* `steps`: another last step, other rates before. */
};

/* All that a schedule is: a line here, and rate_NAME in schedule.c.  The text
 * says the rate of step i, for --help; the options that it names are --lr,
 * --decay and --decay-every. */
#define SCHEDULE_LIST(X)                                                       \
    X(DECAY, decay, SCHEDULE_FACTOR, "RATE * FACTOR^i")                        \
    X(CONSTANT, constant, 0, "RATE")                                           \
    X(INVERSE, inverse, 0, "RATE / (1 + i)")                                   \
    X(STEP, step, SCHEDULE_FACTOR | SCHEDULE_STAIRS,                           \
      "RATE * FACTOR^(i / EVERY), rounded down, FACTOR 0.1 by default")        \
    X(COSINE, cosine, SCHEDULE_END,                                            \
      "RATE * (1 + cos(pi i / STEPS)) / 2, down to 0 at the last step")

#define SCHEDULE_KIND(NAME, name, needs, text) SCHEDULE_##NAME,
enum optim_schedule { SCHEDULE_LIST(SCHEDULE_KIND) SCHEDULES };
#undef SCHEDULE_KIND

/* What each part does by itself between two averages: local.h. */
struct local {
    enum optim_kind kind; /* OPTIM_GD or OPTIM_SGD. */
    enum optim_schedule schedule;
    double rate, decay, l2, clip;
    uint32_t decay_every, warmup;
    uint32_t l2_free, l2_stride;
    uint32_t every; /* Steps between averages; 0: no such job. */
    uint32_t steps; /* Of the whole job. */
    uint64_t seed;  /* sgd. */
};

/* What the data are multiplied by: `steps` vectors, so far apart; borrowed. */
struct optim_columns {
    const double *first;
    uint32_t stride;
};

/* Zero is a valid "none" for every field not marked otherwise; fields of other
 * kinds are ignored.  optim_defaults fills in what is usual for a kind. */
struct optim_options {
    enum optim_kind kind;
    enum optim_schedule schedule;
    double rate;  /* lr, > 0.  lbfgs: the first step along -G, in the metric;
                     0 = 1, without metric 1/|G|.  newton: ignored. */
    double decay; /* Multiplies the rate; SCHEDULE_FACTOR. */
    double clip;  /* G is shortened to this length; 0 = never.  First
                     order. */
    uint32_t decay_every; /* SCHEDULE_STAIRS. */
    uint32_t warmup;      /* Steps in which the rate grows to its schedule. */
    double l2;            /* a, >= 0. */
    double tol;           /* Stop when |G| <= tol; 0 = never. */
    double gap;      /* Stop when f <= optimum + gap |optimum|; 0 = never. */
    double optimum;  /* Known least f; with gap only. */
    double accuracy; /* lbfgs, newton: stop when `excess` is at most so much of
                        |f|; 0 = never.  Others have no such estimate. */
    double momentum; /* mu in [0, 1); momentum, nesterov. */
    double beta1, beta2;    /* c1, c2 in [0, 1); adam, adamw. */
    double epsilon;         /* > 0; the same. */
    uint64_t rows;          /* N of the whole training set, > 0: those that have
                               a weight above 0. */
    struct sampler sampler; /* Which of them a step is over; first order.  Only
                               the kind counts of SAMPLER_WHOLE. */
    uint32_t steps;
    bool held_out;     /* Rows are, and measured at the end of each pass ... */
    uint32_t patience; /* ... so many of which may bring no lower loss
                          (core/run/early.h); 0: any number. */
    uint32_t l2_free, l2_stride; /* Of each l2_stride weights the one at l2_free
                                    has no l2: the intercept of each output.
                                    0, 0: all have it. */
    uint32_t memory;      /* 1 .. OPTIM_MEMORY_MAX; lbfgs.  newton: 0 = a new
                             Hessian for every step. */
    uint32_t dense_max;   /* newton: HESSIAN up to so many weights; 0 = never,
                             at most OPTIM_DENSE_LIMIT. */
    uint32_t cg_max;      /* newton: HESSVEC rounds a step, > 0. */
    bool diagonal;        /* lbfgs, newton: DIAGONAL can be evaluated. */
    bool line;            /* lbfgs, newton: LINE can be evaluated, and costs
                             next to nothing (line.c). */
    bool kinks;           /* The loss has kinks: lbfgs and newton soften them
                             (soften.h). */
    uint32_t weight_bits; /* lbfgs, newton: trials are rounded to so many bits
                             of the largest weight; 0 = not at all, else at
                             most 52.  For data whose kernels round weights
                             anyway (math/kernel/sparse.h, index): objective and
                             gradient are then those of the same point. */
    uint64_t seed;        /* sgd: of its shuffles; networks: of what their
                             layers draw. */
    struct local local;   /* average. */
    struct optim_columns columns; /* columns. */
    const double *start; /* Weights to begin with, borrowed; NULL: all 0. */
};

/* As bytes, without what they point to (options.c); at most so many of them.
 * Bytes that no options have leave the reader not ok. */
#define OPTIM_OPTIONS_BYTES 256u
void optim_options_put(struct writer *out, const struct optim_options *options);
void optim_options_get(struct reader *in, struct optim_options *options);

/* Whether and why it has ended. */
enum optim_end {
    OPTIM_GOING,
    OPTIM_CONVERGED, /* tol, gap or accuracy was reached, or no step makes it
                        better and the excess is small. */
    OPTIM_STALLED,   /* No step makes it better, yet the excess is not small,
                        or unknown: sums too coarse for the data. */
    OPTIM_STEPS,     /* All steps are made. */
    OPTIM_EARLY,     /* Held-out rows have not gained for `patience` passes. */
    OPTIM_DIVERGED,
};

/* How far it has come. */
struct optim_outcome {
    enum optim_end end;
    double objective, gradient_norm, excess, objective_first; /* As in optim. */
    double blank;    /* The objective of a model that knows nothing, if the run
                        began with a trained one; else 0. */
    double gain;     /* First order: what as many steps again would still gain,
                        by how the objective fell in the second half, as a share
                        of what it was at the start; 0: nothing is known. */
    double held_out; /* Loss of held-out rows; infinite: none is known, which
                        is no good end if it is OPTIM_EARLY. */
    uint32_t held_out_step; /* After which that was: the model's, but where a
                               last pass was cut short. */
    uint32_t least_step;    /* After which it was least; 0: none is known. */
    uint32_t best_step; /* After which the weights were the model, if it is not
                           the last; else 0. */
    bool at_model;      /* The first two are the model's, not those of the point
                           before it. */
    bool doubtful;      /* newton: f'' is nearly singular. */
    uint32_t hidden, beside; /* OPTIM_STALLED: two weights whose columns are
                                too nearly one to know the excess (hidden.h);
                                equal: none are. */
};

enum ask_kind { ASK_EVALUATE, ASK_DONE };

/* Pointers are valid until the next feed, load or close. */
struct ask {
    enum ask_kind kind;
    struct evaluation what; /* ASK_EVALUATE; the same answer until fed. */
    const double *point;    /* what.w; at ASK_DONE the model. */
};

/* lbfgs, newton, if the loss has kinks: soften.h. */
struct soften {
    uint32_t phase;
    uint32_t level;  /* evaluation.soft of the descent. */
    uint32_t shifts; /* Of the intercept, so far. */
    uint32_t proofs; /* That were wanting, of this level. */
    bool sure;       /* The level ends by proof alone. */
    double target;   /* Excess at which it ends. */
    double truth;    /* The objective proper, where it was measured last. */
    double least;    /* No less is it anywhere, as far as is known. */
};

/* What is wanted of new weights while they are in the cache: first order, of
 * the blocks of SLICE_GRAIN that an update walks once. */
struct optim_tap {
    bool names;   /* `known` of them, ... */
    double *copy; /* ... and a copy there; NULL: none. */
    uint32_t end; /* Found: of the coordinates before this one; the rest is left
                     to who wants it. */
};

/* --- a step that several make for each other (by_parts.c) ----------------- */

#define OPTIM_SHARED 3u /* Vectors of a first-order optimiser, at most. */

/* Where vectors and sums of blocks lie, each from coordinate 0 on. */
struct optim_room {
    double *vector[OPTIM_SHARED]; /* b, u, v: as many as there are. */
    double
        *blocks; /* Two of each SLICE_GRAIN: squares of slopes, of weights. */
};

/* What whole blocks came to. */
struct optim_found {
    double largest;  /* Of the new weights; infinite: some are not finite. */
    uint64_t name;   /* quick_part of them, with KNOWN_SEED, ... */
    uint64_t before; /* ... and of all vectors, as they were ... */
    uint64_t after;  /* ... and are. */
};

/* Coordinates [at, end) of a step, whole blocks: in a room where somebody has
 * stepped them, or, where that has no vectors, to be stepped here. */
struct optim_part {
    uint32_t at, end;
    struct optim_room room;
    struct optim_found found;
};

/* Weights that others made, up to `end` (0: none), and what they called them.
 */
struct optim_vouched {
    uint32_t end;
    uint64_t name;
};

/* A step that lies ready beside the state it is of. */
struct optim_gathered {
    uint32_t end; /* Of these first coordinates; 0: none does. */
    double largest;
    uint64_t name; /* As in optim_found. */
    bool looks;    /* At what is written over: somebody vouched for that. */
    uint64_t off;  /* By so much its name was another, and the next is to be. */
    struct optim_vouched kept, spare; /* What lies there. */
};

struct optim {
    struct optim_options options;
    uint32_t dims;
    uint32_t step;        /* Updates made. */
    uint32_t round;       /* Evaluations fed since the last update. */
    uint64_t evaluations; /* Fed since the start. */
    double objective;     /* gd, agd, momentum, adam: at the last fed point.
                             lbfgs, newton: at the model.  NaN before the
                             first. */
    double gradient_norm; /* Of the objective there; infinite before. */
    double excess;        /* lbfgs, newton: estimate of f less its least value,
                             -G'p/2 with p the direction at the model, so that
                             units of columns do not matter.  Infinite before
                             there is one, and always with other kinds.  With
                             kinks a proved bound, at the end. */
    double objective_first; /* At the start. */
    uint32_t calm;          /* newton: steps in a row that neither
                               promised nor gained more than `accuracy`. */
    double shortened;       /* First order: G of the step at hand is
                               multiplied by it, because of `clip`. */
    double norm_start;      /* gradient_norm at the start. */
    struct trend trend;     /* First order. */
    bool weak;              /* The curvature behind `excess` is known in part
                               only: it counts after calm steps alone. */
    bool diverged;          /* Weights or objective are no longer finite. */
    bool stalled;           /* No step makes it better: the model is as
                               good as the arithmetic allows. */
    /* Not the caller's business: see optim_weights, optim_state_bytes. */
    struct optim_ops const *ops;
    uint32_t phase;    /* Of the kind's own machine. */
    uint32_t pairs;    /* lbfgs, newton: kept so far ... */
    uint32_t newest;   /* ... and where the last one is. */
    uint32_t cg_round; /* newton: HESSVEC rounds of this step; when dense,
                          trials since the Hessian. */
    double cg_rr;      /* newton: |r|^2 in the metric's inverse, */
    double cg_first;   /* of this step's gradient, and */
    double norm_first; /* the root of that at the start. */
    struct search search;
    struct soften soften;
    uint32_t vectors;  /* Behind `kept`, dims each. */
    double *kept;      /* All that is saved, one block. */
    double *b, *u, *v; /* Into kept: the model, and what the kind needs. */
    double *direction; /* Into kept. */
    double *metric;    /* Into kept; NULL: 1. */
    double *pair_s, *pair_y;           /* Into kept: memory vectors each. */
    double pair_rho[OPTIM_MEMORY_MAX]; /* 1 / s'y, from the pairs. */
    double *gradient;  /* Of the objective: at the last fed point, or (lbfgs,
                          newton: into kept) at the model. */
    double *point;     /* Trial b + step * direction. */
    double *work;      /* Scratch. */
    double *blocks;    /* The same, of sums of blocks. */
    struct pool *pool; /* First order: long vectors are walked by slices; NULL:
                          they are not.  Who made the optimiser sets it. */
    struct optim_tap tap; /* The same. */
    double *spare; /* As long as kept, for what is gathered; NULL: nothing
                      is. */
    struct optim_gathered gathered;
    struct known known; /* Of b. */
    double *factor;     /* Into kept; newton when dense: lower triangle. */
};

/* Accepts "gd", "agd", "momentum", "nesterov", "adam", "adamw", "lbfgs",
 * "newton", "sgd";
 * "average" and "columns" are not for people to choose. */
MUST_CHECK enum err optim_parse(const char *name, enum optim_kind *kind);
const char *optim_name(enum optim_kind kind);
/* What a rate multiplies: nothing (there is none), gradients, sums of so many
 * of them that a tenth of the rate goes as far, or steps of one size whatever
 * gradients are. */
enum optim_rate {
    OPTIM_RATE_NONE,
    OPTIM_RATE_LENGTH,
    OPTIM_RATE_SUMMED,
    OPTIM_RATE_SIZE
};
enum optim_rate optim_kind_rate(enum optim_kind kind);
/* Usual values of what decides how `kind` moves; steps, rows, l2 and stops are
 * the caller's.  rate: 1, adam and adamw 1e-3, lbfgs 0; decay 1. */
struct optim_options optim_defaults(enum optim_kind kind);

/* The data are coded: what can be evaluated are gradients, LINE and HESSVEC. */
void optim_on_scores(struct optim_options *options);

/* Numbers of each of its vectors in a job of so many weights: as many, but of
 * `columns`, whose vectors are answers, the rows. */
uint32_t optim_dims(const struct optim_options *options, uint32_t weights);

/* ERR_SHAPE if an option is out of range.  `dims` is optim_dims. */
MUST_CHECK enum err optim_init(struct optim *opt,
                               const struct optim_options *options,
                               uint32_t dims);
void optim_close(struct optim *opt);

/* gd or sgd `options`, with the weights of parts averaged every so many of
 * their steps: an OPTIM_AVERAGE whose steps are the averages. */
struct optim_options optim_averaged(const struct optim_options *options,
                                    uint32_t every);

/* Vectors that a step moves coordinate by coordinate, so that it may be made by
 * parts; 0: of these options none may. */
uint32_t optim_part_vectors(const struct optim_options *options);
/* From now on parts may be gathered.  ERR_NOMEM. */
MUST_CHECK enum err optim_share(struct optim *opt);
/* So many of the first coordinates may come in parts, whole blocks; 0: none. */
uint32_t optim_shared(const struct optim *opt);
/* What optim_found has as `before` of coordinates [at, end), whole blocks. */
uint64_t optim_name_part(const struct optim *opt, uint32_t at, uint32_t end);
/* The step to come of coordinates [at, end), whole blocks of these, from their
 * gradient sums.  The state stays as it is. */
void optim_step_part(const struct optim *opt, uint32_t at, uint32_t end,
                     const double *sum, const struct optim_room *into,
                     struct optim_found *found);
/* Lay the step to come ready, part by part: begin, all parts that make up the
 * optim_shared coordinates, in any order, end.  `sum` has the gradient sums of
 * a part that has no room.  The state stays as it is until optim_feed, which
 * steps the other coordinates; if that is not called, optim_ungather, or begin
 * again. */
void optim_gather_begin(struct optim *opt);
void optim_gather(struct optim *opt, const struct optim_part *part,
                  const double *sum);
void optim_gather_end(struct optim *opt);
void optim_ungather(struct optim *opt);

/* Are the weights that a feed makes tapped? */
bool optim_taps(const struct optim *opt);

/* Begin at the weights w as if `step` updates had been made: gd. */
void optim_start(struct optim *opt, const double *w, uint32_t step);

/* The chunks that a step of it is over, of data that have so many. */
uint32_t optim_chunks(const struct optim_options *options, uint32_t all);

/* The largest evaluation_dims this optimiser will ever ask for: what buffers
 * for tallies and sums must hold. */
uint32_t optim_sum_dims(const struct optim *opt);

/* ASK_DONE after `steps` updates, when converged or stalled (the model is then
 * the answer) or when `diverged`: the caller must look, for there is no answer
 * then; a smaller rate may help. */
struct ask optim_next(const struct optim *opt);
/* True if tol, gap or accuracy is set and was reached. */
bool optim_converged(const struct optim *opt);
/* Where it stands: OPTIM_GOING until optim_next says ASK_DONE. */
enum optim_end optim_end(const struct optim *opt);
/* May it end before its last step? */
bool optim_may_end(const struct optim_options *options);
struct optim_outcome optim_outcome(const struct optim *opt);
/* Of a run that made all its steps, or all that its time allowed: did it
 * diverge (the objective is above that of the start), or does |G|^2 / (4 l2),
 * the most that f can be above its least value if all weights have the penalty
 * (an estimate if some have none), show that it converged: is it at most
 * `accuracy` of |f| (lbfgs, newton), 1e-6 of it (others)? */
void optim_judge(const struct optim_options *options,
                 struct optim_outcome *outcome);
/* "going", "converged", "stalled", "steps", "early", "diverged". */
const char *optim_end_name(enum optim_end end);
bool optim_schedule_parse(const char *name, enum optim_schedule *schedule);
const char *optim_schedule_name(enum optim_schedule schedule);
/* Of SCHEDULE_FACTOR and the others, those that it needs. */
unsigned optim_schedule_needs(enum optim_schedule schedule);
/* eta of the step to come. */
double optim_rate(const struct optim *opt);
/* The answer to optim_next: sums over all rows (already rescaled if some were
 * missing), not means; evaluation_dims(ask.what.kind, dims) of them.  The loss
 * counts for EVALUATE_GRADIENT only.  True if the model was updated: step has
 * grown and round is 0.  It may be false and the next ask ASK_DONE (gd and its
 * kin do not move on from a point that has converged; a line search may
 * stall), or true and ASK_DONE. */
bool optim_feed(struct optim *opt, const double *sum, double loss_sum);
/* Instead of feeding: the point asked for cannot be evaluated, for a score or
 * the loss might be no number (their bounds reach 2^960).  A trial of a line
 * search is then infinitely bad, and the search goes on with a shorter step
 * (true).  False, and nothing done, if it is no trial: go on if that is
 * possible, else the run has diverged. */
bool optim_reject(struct optim *opt);
/* The model so far: dims doubles.  Changes only when optim_feed says so. */
const double *optim_weights(const struct optim *opt);
/* What it hands over: the same, but of `columns` all that it was fed. */
const double *optim_model(const struct optim *opt, uint32_t *count);

/* f(w) from sums over all rows at w, and its gradient. */
double optim_objective(const struct optim_options *options, uint32_t dims,
                       const double *w, const double *sum, double loss_sum,
                       double *gradient);
/* What of it is the penalty. */
double optim_penalty(const struct optim_options *options, uint32_t dims,
                     const double *w);

/* Everything optim_feed depends on, for checkpoints, between any two rounds:
 * fixed size for given options and dims. */
size_t optim_state_bytes(const struct optim *opt);
void optim_save(const struct optim *opt, struct writer *out);
/* ERR_FORMAT if it is not a state of this optimiser and size. */
MUST_CHECK enum err optim_load(struct optim *opt, struct reader *in);

#endif /* OPTIM_OPTIM_H */
