/*
 * mpi_none.c - a build without MPI.
 */
#include <stdio.h>

#include "node/fixed/mpi.h"

const bool mpi_built = false;

enum err mpi_open(struct collective *ranks, struct why *why)
{
    const struct launcher launcher = launcher_find();

    (void)ranks;
    if (launcher.mpi == NULL)
        return why_set(why, ERR_UNSUPPORTED,
                       "--topology mpi is for processes that an MPI has "
                       "started: mpirun -np N muster train ...");
    return why_set(why, ERR_UNSUPPORTED,
                   "this muster was built without MPI: there is no muster-%s "
                   "beside it; build it where mpicc.%s is, or take --topology "
                   "star or ring, which need none",
                   launcher.mpi, launcher.mpi);
}

void mpi_close(void)
{
}

uint32_t mpi_neighbours(void)
{
    return 1;
}

const char *mpi_name(char name[MPI_NAME_SIZE])
{
    (void)snprintf(name, MPI_NAME_SIZE, "no MPI");
    return name;
}
