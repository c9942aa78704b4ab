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
 */
#include <stddef.h>
#include <stdlib.h>

#include "node/fixed/mpi.h"
#include "os/run/process.h"
#include "os/run/threads.h"

#define NUMBER_MAX 1000000u /* Of no launcher's ranks. */

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

struct launcher launcher_find(void)
{
    static const struct {
        const char *rank, *size, *here, *mpi;
    } known[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
         "OMPI_COMM_WORLD_LOCAL_SIZE", "openmpi"},
        {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", NULL, "openmpi"},
        {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "mpich"},
        {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, NULL},
    };
    struct launcher none = {.mpi = NULL};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint32_t rank = read_number(known[i].rank);
        const uint32_t size = number_of(known[i].size);
        const bool slurm = number_of("SLURM_STEP_NUM_NODES") == 1;

        if (rank == NUMBER_MAX || (size > 0 && rank >= size) ||
            (known[i].mpi == NULL && size == 0))
            continue;
        return (struct launcher){
            .mpi = known[i].mpi,
            .rank = rank,
            .size = size,
            .here = known[i].here != NULL ? number_of(known[i].here)
                    : slurm               ? size
                                          : 0,
            .inherited = process_parent_has(known[i].rank),
        };
    }
    return none;
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
