/*
 * launcher.c - was this process started by the launcher of a parallel job, and
 * as which rank of how many?
 *
 * Open MPI's mpirun, what speaks PMIx (prterun, srun --mpi=pmix), what speaks
 * PMI (MPICH's and Intel's mpiexec, srun --mpi=pmi2) and srun itself tell their
 * processes in the environment.  A batch script of Slurm's, which runs once for
 * many tasks, has a rank and no step.
 *
 * Whoever such a process starts has its environment: its parent has the same
 * variables, which a launcher itself has not.  It may be the one that a script
 * was started for, or one of many.
 *
 * So variables of two launchers may be there: of mpirun in a step of Slurm's,
 * or of srun in a script that mpirun has started.  The nearer one is right.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node/fixed/mpi.h"
#include "os/run/process.h"
#include "os/run/threads.h"

#define NUMBER_MAX  (1u << 30) /* Of no launcher's ranks. */
#define PARENTS_MAX 64u        /* Scripts in scripts. */

/* NUMBER_MAX: it is not there, or no number. */
static uint32_t read_number(const char *variable)
{
    const char *const text = variable == NULL ? NULL : getenv(variable);
    char *end;
    unsigned long number;

    if (text == NULL || *text < '0' || *text > '9')
        return NUMBER_MAX;
    number = strtoul(text, &end, 10);
    return *end != '\0' || number >= NUMBER_MAX ? NUMBER_MAX : (uint32_t)number;
}

static uint32_t number_of(const char *variable)
{
    const uint32_t number = read_number(variable);

    return number == NUMBER_MAX ? 0 : number;
}

/* How a launcher tells. */
struct variables {
    const char *rank, *size, *here, *mpi;
    bool of_srun; /* srun may tell so, too (--mpi=pmix, --mpi=pmi2). */
};

static const struct variables mpis[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "openmpi", false},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", NULL, "openmpi", true},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "mpich", true},
};
static const struct variables srun = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
                                      NULL, NULL, false};

static bool is_told(const struct variables *by)
{
    const uint32_t rank = read_number(by->rank);
    const uint32_t size = number_of(by->size);

    return rank < NUMBER_MAX && (size == 0 || rank < size) &&
           (by->mpi != NULL || size > 0);
}

/* The same rank of the same number, as far as both are told? */
static bool say_the_same(const struct variables *a, const struct variables *b)
{
    const uint32_t sizes[] = {number_of(a->size), number_of(b->size)};

    return read_number(a->rank) == read_number(b->rank) &&
           (sizes[0] == 0 || sizes[1] == 0 || sizes[0] == sizes[1]);
}

/* Which of two launchers is the nearer, if both have told; NULL: that cannot be
 * seen.  Of all processes from this one upwards the first that began without
 * one's variables is that launcher, or below it.  Those of srun begin with the
 * process that it names, whose parent belongs to root. */
static const struct variables *nearer(const struct variables *a,
                                      const struct variables *b)
{
    const uint32_t task = b == &srun ? number_of("SLURM_TASK_PID") : 0;
    uint32_t pid = process_own_pid();

    for (uint32_t up = 0; up < PARENTS_MAX; up++) {
        bool has_a, has_b;

        if (pid == task)
            return b;
        pid = process_parent(pid);
        if (pid == 0 || !process_began_with(pid, a->rank, &has_a) ||
            !process_began_with(pid, b->rank, &has_b) || (!has_a && !has_b))
            return NULL;
        if (!has_a || !has_b)
            return has_a ? b : a;
    }
    return NULL;
}

/* One of the two; NULL: it is unclear. */
static const struct variables *choose(const struct variables *a,
                                      const struct variables *b)
{
    const struct variables *near;

    /* One launcher may tell in two ways. */
    if (say_the_same(a, b) &&
        (b == &srun ? a->of_srun : strcmp(a->mpi, b->mpi) == 0))
        return a;
    near = nearer(a, b);
    return near == NULL && say_the_same(a, b) ? a : near;
}

static const char *text_of(const char *variable)
{
    const char *const text = getenv(variable);

    return text == NULL ? "" : text;
}

/* Does srun tell so, in its own way or another's? */
static bool is_step(const struct variables *by)
{
    return by == &srun ||
           (by->of_srun && is_told(&srun) && say_the_same(by, &srun));
}

/* A job that was requeued has the number it had. */
static void name_job(const struct variables *by, char job[LAUNCH_JOB_SIZE])
{
    job[0] = '\0';
    if (is_step(by) && text_of("SLURM_STEP_ID")[0] != '\0')
        (void)snprintf(job, LAUNCH_JOB_SIZE, "%.30s.%.30s.%.30s",
                       text_of("SLURM_JOB_ID"), text_of("SLURM_STEP_ID"),
                       text_of("SLURM_RESTART_COUNT"));
    else if (by->mpi != NULL && strcmp(by->mpi, "openmpi") == 0)
        (void)snprintf(job, LAUNCH_JOB_SIZE, "%.*s", (int)LAUNCH_JOB_SIZE - 1,
                       text_of("PMIX_NAMESPACE"));
}

static struct launcher told_by(const struct variables *by)
{
    const uint32_t size = number_of(by->size);
    struct launcher launcher = {
        .mpi = by->mpi, .rank = read_number(by->rank), .size = size};

    /* srun --mpi=pmi2 tells in PMI's way, without how many are here. */
    if (by->here != NULL)
        launcher.here = number_of(by->here);
    if (launcher.here == 0 && (by->here == NULL || is_step(by)) &&
        number_of("SLURM_STEP_NUM_NODES") == 1)
        launcher.here = size;
    name_job(by, launcher.job);
    (void)!process_began_with(process_parent(process_own_pid()), by->rank,
                              &launcher.inherited);
    return launcher;
}

struct launcher launcher_find(void)
{
    const struct variables *const step = is_told(&srun) ? &srun : NULL;
    const struct variables *by = NULL;

    for (size_t i = 0; i < sizeof mpis / sizeof *mpis; i++) {
        const struct variables *const other = &mpis[i];
        const struct variables *near = other;

        if (!is_told(other))
            continue;
        if (step != NULL)
            near = choose(other, step);
        if (near == NULL)
            return (struct launcher){.unclear = {other->rank, srun.rank}};
        if (near != other)
            continue; /* Left from before the step. */
        if (by != NULL) {
            near = choose(by, other);
            if (near == NULL)
                return (struct launcher){.unclear = {by->rank, other->rank}};
        }
        by = near;
    }
    if (by == NULL)
        by = step;
    if (by == NULL)
        return (struct launcher){.mpi = NULL};
    return told_by(by);
}

enum err launcher_check(const struct launcher *launcher, struct why *why)
{
    if (launcher->unclear[0] == NULL)
        return ERR_OK;
    return why_set(why, ERR_SHAPE,
                   "%s says rank %u and %s rank %u: this process has the "
                   "variables of two launchers, and which of them started it "
                   "cannot be told; unset those of the other one",
                   launcher->unclear[0], read_number(launcher->unclear[0]),
                   launcher->unclear[1], read_number(launcher->unclear[1]));
}

uint32_t launcher_threads(const struct launcher *launcher)
{
    const uint32_t all = threads_available();
    const uint32_t told = number_of("SLURM_CPUS_PER_TASK");

    if (launcher->size == 0)
        return all;
    if (told > 0)
        return told;
    /* A launcher that binds has given each its own. */
    if (all < threads_online())
        return all;
    return launcher->here > 0 && all > launcher->here ? all / launcher->here
                                                      : 1;
}
