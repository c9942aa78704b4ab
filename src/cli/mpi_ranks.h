/*
 * mpi_ranks.h - this process among the ranks of an MPI job (--topology mpi).
 *
 * All of them run the same command.  Rank 0 has the folder, the screen and the
 * model's file; the others compute and are quiet.  What goes wrong in any of
 * them rank 0 says, once, and all end with one exit code.
 *
 * Until the training begins every rank goes its own way, which may end at a
 * wrong flag or at a file that this machine lacks; then they meet
 * (ranks_agree), and from there on they are in step.
 */
#ifndef CLI_MPI_RANKS_H
#define CLI_MPI_RANKS_H

#include "cli/cli.h"
#include "node/fixed/collective.h"

struct ranks;

/* Before flags are read: who was started by mpirun, with --topology mpi or a
 * run to resume, must be able to tell the others of a wrong one.  All words of
 * the command line, which stay where they are. */
void ranks_expect(struct cli *cli, int argc, char *const *argv);
/* Once it is known that this is one; nothing, if it was expected. */
MUST_CHECK enum err ranks_open(struct cli *cli, struct why *why);
/* Not --topology mpi: whoever was started many times by one command would train
 * as often; the first of them says so, once. */
void ranks_warn(const struct cli *cli);
/* What goes wrong is said by another rank. */
void ranks_hush(bool hush);
/* The end of the program, and its exit code: that of the job is rank 0's. */
int ranks_close(struct cli *cli, int status);

/* NULL: this process is alone. */
const struct collective *ranks_all(const struct cli *cli);
/* Rank 0, or alone? */
bool ranks_first(const struct cli *cli);
/* Ranks on this machine; 0: this process is alone. */
uint32_t ranks_here(const struct cli *cli);

/* Where ranks meet: the same outcome in all. */
MUST_CHECK enum err ranks_agree(const struct cli *cli, enum err err,
                                struct why *why);
/* For whoever has an error to say: shall this rank?  `sentence` may become
 * another rank's. */
bool ranks_speak(const struct cli *cli, int *status, char *sentence,
                 size_t size);

#endif /* CLI_MPI_RANKS_H */
