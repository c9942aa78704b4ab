/*
 * mpi.c - MPI_Allreduce on 64-bit integers, which any order of addition gives
 * the same bits.
 *
 * Errors are MPI's to say: as it is left by default, a call that fails ends the
 * job.
 */
#include "node/fixed/mpi.h"

#include <ctype.h>
#include <mpi.h>
#include <string.h>

#include "base/check.h"

#define SUMS_AT_ONCE ((size_t)1 << 28) /* MPI counts in int. */

const bool mpi_built = true;

static uint32_t rank_of(void *context)
{
    int rank;

    (void)context;
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS);
    return (uint32_t)rank;
}

static uint32_t size_of(void *context)
{
    int size;

    (void)context;
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS);
    return (uint32_t)size;
}

static enum err sum(void *context, int64_t *sums, size_t count)
{
    (void)context;
    for (size_t at = 0; at < count; at += SUMS_AT_ONCE) {
        const size_t left = count - at;
        const size_t some = left < SUMS_AT_ONCE ? left : SUMS_AT_ONCE;

        CHECK(MPI_Allreduce(MPI_IN_PLACE, sums + at, (int)some, MPI_INT64_T,
                            MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    }
    return ERR_OK;
}

enum err mpi_open(struct collective *ranks, struct why *why)
{
    static const struct collective_ops ops = {rank_of, size_of, sum};
    int threads;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &threads) !=
        MPI_SUCCESS)
        return why_set(why, ERR_IO, "MPI cannot be started");
    if (threads < MPI_THREAD_FUNNELED)
        return why_set(why, ERR_UNSUPPORTED,
                       "this MPI takes no programs of several threads");
    *ranks = (struct collective){&ops, NULL};
    return ERR_OK;
}

void mpi_close(void)
{
    (void)MPI_Finalize();
}

uint32_t mpi_neighbours(void)
{
    MPI_Comm here;
    int count = 1;

    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &here) != MPI_SUCCESS)
        return 1;
    CHECK(MPI_Comm_size(here, &count) == MPI_SUCCESS);
    (void)MPI_Comm_free(&here);
    return (uint32_t)count;
}

/* Its first line says more than one wants to know. */
const char *mpi_name(char name[MPI_NAME_SIZE])
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "MPI";
    size_t size = 0;
    int length;

    (void)MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    for (const char *at = text; *at != '\0' && size < MPI_NAME_SIZE - 1; at++) {
        const bool blank = isspace((unsigned char)*at) != 0;

        if (!blank)
            name[size++] = *at;
        else if (size > 0 && name[size - 1] != ' ')
            name[size++] = ' ';
    }
    name[size] = '\0';
    return name;
}
