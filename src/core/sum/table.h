/*
 * table.h - muster_sum between processes of one machine: who gave, and which
 * call is open, as one small value that all of them share.
 *
 * A member that wants something copies the table, changes the copy by one of
 * the functions here, and puts it in place of the one that it read, with one
 * compare-and-swap (os/run/segment.h); if another was faster it begins again.
 * So a change is there for all or for nobody, whoever is killed or stopped
 * where: the swap is the agreement, and there is no lock that could be left.
 *
 *      member a          table                member b
 *        vector ------> [shared memory] <------ vector
 *        give(c) -----> given {a}
 *                       given {a, b} <--------- give(c)   the last one closes
 *                       plan c = {a, b}, call c + 1 opens
 *        adds slice 0 of {a, b}                 adds slice 1 of {a, b}
 *        takes slice 1 from b                   takes slice 0 from a
 *
 *   TABLE-1  A vector lies whole in shared memory before it is given, and stays
 *            until the call after next opens.  So whoever is in a plan is in
 *            for all, even if it dies at once: anyone can add any slice.
 *   TABLE-2  A call is closed by one change, which writes its plan and opens
 *            the next one; nobody has seen a sum of it before.
 *   TABLE-3  A plan stays until the call after next closes, vectors and slices
 *            until that call opens: whoever read them looks again whether it
 *            has (table_holds), and if so keeps nothing of what it read.
 *   TABLE-4  A seat whose vector is in a plan is not given to another process:
 *            its name tells who was in.
 */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

#define TABLE_SEATS 64u

struct table_plan {
    uint64_t call;    /* 0: none. */
    uint64_t set;     /* Seats whose vectors are in, one bit each ... */
    uint64_t members; /* ... of so many who might have given one. */
    uint64_t type, count;
};

struct table {
    uint64_t call;        /* Open; the first is 1. */
    uint64_t taken;       /* Seats of living members. */
    uint64_t given;       /* For the open call; the dead, too, if they gave. */
    uint64_t fresh;       /* Came when it was open already: not waited for. */
    uint64_t type, count; /* Of the open call, once somebody gave. */
    int64_t close_at;     /* Somebody's patience ends. */
    struct table_plan plans[2]; /* Of the last two calls, by parity. */
};

struct table_rules {
    uint32_t members_max;
    uint32_t least; /* Never close a call with fewer vectors. */
};

enum table_answer {
    TABLE_GIVEN, /* It is in, unless it is withdrawn before the call closes. */
    TABLE_CHANGED, /* Of the others: put it in place. */
    TABLE_NOTHING, /* Nothing was changed. */
    TABLE_LATE,    /* The call was closed without it; its sum is there. */
    TABLE_MISSED,  /* The others are further by more than a call. */
    TABLE_SHAPE,   /* Of another size or type than the others'. */
    TABLE_FULL,
};

struct table_gift {
    uint32_t seat;
    uint64_t call;
    uint64_t type, count;
    time_us now, patience_us; /* 0: for ever. */
};

void table_init(struct table *table);
/* A process that has the seat to itself takes part. */
enum table_answer table_claim(struct table *table,
                              const struct table_rules *rules, uint32_t seat);
enum table_answer table_give(struct table *table,
                             const struct table_rules *rules,
                             const struct table_gift *gift);
/* NOTHING: it is too late, the call is closed. */
enum table_answer table_withdraw(struct table *table, uint32_t seat,
                                 uint64_t call);
/* Those seats' processes are gone; what they gave stays in. */
enum table_answer table_expel(struct table *table,
                              const struct table_rules *rules, uint64_t seats,
                              time_us now);
/* Close the open call, if it may be closed now. */
enum table_answer table_settle(struct table *table,
                               const struct table_rules *rules, time_us now);

/* Members for whom the open call waits. */
uint64_t table_waits_for(const struct table *table);
/* The plan of a call, NULL if it is not closed yet or forgotten. */
const struct table_plan *table_plan(const struct table *table, uint64_t call);
/* Are vectors and slices of the call still what they were? */
bool table_holds(const struct table *table, uint64_t call);

/* Slice `index` of `slices` begins there; a cache line is not cut. */
uint64_t table_slice(uint64_t count, uint32_t slices, uint32_t index);
uint32_t table_count(uint64_t seats);

#endif /* CORE_TABLE_H */
