/*
 * arcs_settle.c - an order of the members in which every set of them decodes
 * well.
 *
 * Which members meet in a piece follows from their order.  Where a set is badly
 * conditioned, one of it changes places with the one behind it; what helps is
 * kept.
 */
#include "base/check.h"
#include "code/arcs.h"
#include "code/erasure.h"

#define TRIES_MAX 256u

struct settling {
    struct erasure *erasure;
    enum arc_rule rule;
    struct arc_member *members;
    uint32_t count, pieces;
    struct arc *arcs;
    double worst;        /* Of all sets, 0 if one does not decode. */
    struct blockset set; /* The one that is. */
};

/* Lay the arcs and look at every set they have. */
static enum err look(struct settling *s)
{
    enum err err = arcs_lay(s->rule, s->members, s->count, s->erasure->parts,
                            s->pieces, s->arcs);

    s->worst = 1;
    for (uint32_t piece = 0; piece < s->pieces && err == ERR_OK;
         piece = arcs_turn(s->arcs, s->count, s->pieces, piece)) {
        const struct erasure_set *set;
        struct blockset blocks;
        double rcond = 0;

        arcs_set(s->members, s->arcs, s->count, s->pieces, piece, &blocks);
        if (erasure_find(s->erasure, &blocks, &set) == ERR_OK)
            rcond = set->rcond;
        if (rcond < s->worst) {
            s->worst = rcond;
            s->set = blocks;
        }
    }
    return err;
}

static void swap_members(struct settling *s, uint32_t i)
{
    const struct arc_member kept = s->members[i];
    const uint32_t next = (i + 1) % s->count;

    s->members[i] = s->members[next];
    s->members[next] = kept;
}

/* Does the worst set have one of two neighbours and not the other? */
static bool parts_them(const struct settling *s, uint32_t i)
{
    const uint32_t next = (i + 1) % s->count;

    return blockset_has(&s->set, s->members[i].block) !=
           blockset_has(&s->set, s->members[next].block);
}

/* One swap that makes the worst set better; false if there is none. */
static bool improve(struct settling *s, uint32_t *tries)
{
    for (uint32_t i = 0; i < s->count && *tries < TRIES_MAX; i++) {
        struct settling before = *s;

        if (!parts_them(s, i))
            continue;
        ++*tries;
        swap_members(s, i);
        if (look(s) == ERR_OK && s->worst > before.worst)
            return true;
        swap_members(s, i);
        s->worst = before.worst;
        s->set = before.set;
    }
    return false;
}

enum err arcs_settle(struct erasure *erasure, enum arc_rule rule,
                     struct arc_member *members, uint32_t count,
                     uint32_t pieces, double rcond, struct arc *arcs,
                     double *worst)
{
    struct settling s = {.erasure = erasure,
                         .rule = rule,
                         .members = members,
                         .count = count,
                         .pieces = pieces,
                         .arcs = arcs};
    uint32_t tries = 0;
    enum err err = look(&s);

    if (err != ERR_OK)
        return err;
    while (s.worst < rcond && improve(&s, &tries))
        continue;
    err = look(&s); /* The last that was tried may not be the best. */
    CHECK(err == ERR_OK);
    if (s.worst == 0)
        return ERR_UNDECODABLE;
    *worst = s.worst;
    return ERR_OK;
}
