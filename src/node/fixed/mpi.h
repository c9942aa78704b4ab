/*
 * mpi.h - the ranks of an MPI job as a collective: `mpirun muster train`.
 *
 * Binaries of one MPI do not go with another, so that each has a program of its
 * own, muster-NAME (mpi.c, -Dmpi=WRAPPER), which muster (mpi_none.c) becomes
 * when the launcher of that MPI has started it.  MPI is called by one thread
 * alone.  When a rank dies, the launcher ends the others.
 */
#ifndef NODE_FIXED_MPI_H
#define NODE_FIXED_MPI_H

#include "node/fixed/collective.h"

#define MPI_NAME_SIZE   64u
#define LAUNCH_JOB_SIZE 128u

extern const bool mpi_built;

/* Once in a process.  ERR_UNSUPPORTED: not built in. */
MUST_CHECK enum err mpi_open(struct collective *ranks, struct why *why);
/* All ranks, after the last sum. */
void mpi_close(void);

/* Ranks on this machine, this one included. */
uint32_t mpi_neighbours(void);
/* Which MPI: "Open MPI v4.1.4". */
const char *mpi_name(char name[MPI_NAME_SIZE]);

/* launcher.c: as environments of launchers have it, before MPI is asked. */
struct launcher {
    const char *mpi; /* Whose it is, as programs are named; NULL: none is known
                        to have started this process. */
    uint32_t rank;
    uint32_t size;  /* Ranks in all; 0: this is none. */
    uint32_t here;  /* Of them on this machine; 0: that is not told. */
    bool inherited; /* It was told its parent, too: a script, say. */
    /* What all ranks of one start have in common, and those of no other start;
     * "": nothing that is told. */
    char job[LAUNCH_JOB_SIZE];
    /* Variables of two launchers that say different ranks, and it cannot be
     * told which of them started this process; else NULL.  Then it is none. */
    const char *unclear[2];
};
struct launcher launcher_find(void);
/* ERR_SHAPE: it is unclear; `why` says between which two. */
MUST_CHECK enum err launcher_check(const struct launcher *launcher,
                                   struct why *why);
/* A rank's share of its machine; all of it, if this is none. */
uint32_t launcher_threads(const struct launcher *launcher);

#endif /* NODE_FIXED_MPI_H */
