/*
 * The table of a group on one machine, and what its members do with it, in
 * every order of their steps there is: members copy their vectors in halves,
 * give, lose patience, are killed, stopped and taken for dead between any two
 * steps, add slices in halves and read those of others.
 *
 * Checked in every state: whoever returns from a call has the same set of
 * vectors as all who returned from it, dead or alive, and nothing but whole
 * vectors of that call is in its sum; at the end no living member waits.
 * Mistakes that are planted must be found.
 */
#include "core/sum/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { MOST = 5, CALLS_MAX = 3, HALF = 255, SEEN = 1 << 22 };

enum bug {
    NO_BUG,
    GIVE_BEFORE_COPY,
    BLIND_SWAP,
    NO_SECOND_LOOK,
    ONE_BUFFER,
    FORGET_THE_DEAD,
    SHARED_SLICES,
    BUGS
};

/* Where a member is; it does one of these at a time. */
enum place {
    IDLE,
    COPYING,
    GIVING,
    BLIND, /* BLIND_SWAP: has read the table, and will write it. */
    WAITING,
    ADDING,
    TAKING,
    LOOKING,
    DONE
};

struct member {
    uint8_t place, call, dead, fine, index;
    uint8_t set; /* Of the plan. */
};

struct state {
    struct table table;
    struct table kept; /* BLIND_SWAP */
    struct member members[MOST];
    uint8_t vector[MOST][2]; /* The call whose it is; HALF: in between. */
    uint8_t slice[MOST][2], mark[MOST][2];
    uint8_t set[CALLS_MAX + 2]; /* Whoever returned first. */
    uint8_t kills;
};

struct run {
    uint32_t members, calls, kills;
    struct table_rules rules;
    bool patience;
    enum bug bug;
    uint64_t *seen;
    uint64_t states;
    const char *wrong;
    uint32_t returns;
};

static uint32_t side(const struct run *run, uint64_t call)
{
    return run->bug == ONE_BUFFER ? 0 : (uint32_t)(call & 1);
}

static uint64_t dead_of(const struct run *run, const struct state *s)
{
    uint64_t dead = 0;

    for (uint32_t i = 0; i < run->members && i < MOST; i++)
        dead |= (uint64_t)s->members[i].dead << i;
    return dead;
}

static void returned(struct run *run, struct state *s, struct member *m)
{
    run->returns++;
    if (!m->fine)
        run->wrong = "a sum of something else";
    if (s->set[m->call] != 0 && s->set[m->call] != m->set)
        run->wrong = "two sets of one call";
    s->set[m->call] = m->set;
}

/* The next thing is its next call. */
static void next_call(const struct run *run, struct member *m, uint64_t call)
{
    m->call = (uint8_t)call;
    m->place = m->call > run->calls ? DONE : IDLE;
}

static void give(struct run *run, struct state *s, uint32_t i)
{
    struct member *m = &s->members[i];
    const struct table_gift gift = {.seat = i,
                                    .call = m->call,
                                    .type = 1,
                                    .count = 1,
                                    .now = 0,
                                    .patience_us = run->patience ? 1 : 0};
    struct table *table = run->bug == BLIND_SWAP ? &s->kept : &s->table;

    switch (table_give(table, &run->rules, &gift)) {
    case TABLE_GIVEN:
        if (run->bug == BLIND_SWAP)
            s->table = s->kept;
        m->place = run->bug == GIVE_BEFORE_COPY ? COPYING : WAITING;
        return;
    case TABLE_LATE:
        m->place = WAITING;
        return;
    case TABLE_MISSED:
        next_call(run, m, s->table.call);
        return;
    case TABLE_CHANGED:
    case TABLE_NOTHING:
    case TABLE_SHAPE:
    case TABLE_FULL:
        break;
    }
    run->wrong = "no answer to a gift";
}

/* The call is closed: who is in it? */
static void begin_sum(struct run *run, struct state *s, uint32_t i)
{
    struct member *m = &s->members[i];
    const struct table_plan *plan = table_plan(&s->table, m->call);

    if (plan == NULL || !table_holds(&s->table, m->call)) {
        next_call(run, m, s->table.call);
        return;
    }
    m->set = (uint8_t)plan->set;
    m->fine = 1;
    m->index = 0;
    m->place = (plan->set >> i & 1) != 0 ? ADDING : TAKING;
}

static bool vectors_whole(const struct run *run, const struct state *s,
                          const struct member *m)
{
    for (uint32_t k = 0; k < run->members; k++) {
        if ((m->set >> k & 1) != 0 &&
            s->vector[k][side(run, m->call)] != m->call)
            return false;
    }
    return true;
}

static void add_slice(struct run *run, struct state *s, uint32_t i)
{
    struct member *m = &s->members[i];
    const uint32_t at = run->bug == SHARED_SLICES ? 0 : i;
    uint8_t *slice = &s->slice[at][side(run, m->call)];

    if (*slice != HALF || m->index == 0) {
        *slice = HALF;
        m->index = 1;
        return;
    }
    *slice = vectors_whole(run, s, m) ? m->call : 0;
    s->mark[i][side(run, m->call)] = m->call;
    m->index = 0;
    m->place = TAKING;
}

/* One slice after the other, added by another or here. */
static void take_slice(struct run *run, struct state *s, uint32_t i, bool help)
{
    struct member *m = &s->members[i];
    const uint32_t k = m->index++;
    const uint32_t at = run->bug == SHARED_SLICES ? 0 : k;

    if (k < run->members && (m->set >> k & 1) != 0) {
        if (s->mark[k][side(run, m->call)] == m->call && !help)
            m->fine &= s->slice[at][side(run, m->call)] == m->call;
        else
            m->fine &= vectors_whole(run, s, m);
    }
    if (m->index >= run->members)
        m->place = LOOKING;
}

static void look_again(struct run *run, struct state *s, uint32_t i)
{
    struct member *m = &s->members[i];

    if (run->bug == NO_SECOND_LOOK || table_holds(&s->table, m->call))
        returned(run, s, m);
    next_call(run, m, m->call + 1u);
}

static void copy(struct run *run, struct state *s, uint32_t i)
{
    struct member *m = &s->members[i];
    uint8_t *vector = &s->vector[i][side(run, m->call)];

    if (*vector != HALF) {
        *vector = HALF;
        return;
    }
    *vector = m->call;
    m->place = run->bug == GIVE_BEFORE_COPY ? WAITING
               : run->bug == BLIND_SWAP     ? BLIND
                                            : GIVING;
}

/* What member i can do now: ways(s, i) of them. */
static uint32_t ways(const struct run *run, const struct state *s, uint32_t i)
{
    const struct member *m = &s->members[i];

    if (m->dead || m->place == DONE)
        return 0;
    if (m->place == WAITING && s->table.call == m->call)
        return ((dead_of(run, s) & table_waits_for(&s->table)) != 0) |
               (run->patience ? 2 : 0);
    return m->place == TAKING ? 2 : 1;
}

static void step(struct run *run, struct state *s, uint32_t i, uint32_t way)
{
    struct member *m = &s->members[i];

    switch ((enum place)m->place) {
    case IDLE:
        if (m->call < s->table.call && m->call + 1u < s->table.call)
            next_call(run, m, s->table.call);
        else
            m->place = run->bug == GIVE_BEFORE_COPY ? GIVING : COPYING;
        return;
    case COPYING:
        copy(run, s, i);
        return;
    case BLIND:
        s->kept = s->table;
        m->place = GIVING;
        return;
    case GIVING:
        give(run, s, i);
        return;
    case WAITING:
        if (s->table.call != m->call) {
            begin_sum(run, s, i);
        } else if (way == 0) {
            const uint64_t dead = dead_of(run, s);

            (void)table_expel(&s->table, &run->rules, dead, 0);
            if (run->bug == FORGET_THE_DEAD)
                for (uint32_t p = 0; p < 2; p++)
                    s->table.plans[p].set &= ~dead;
        } else {
            (void)table_settle(&s->table, &run->rules, 1);
        }
        return;
    case ADDING:
        add_slice(run, s, i);
        return;
    case TAKING:
        take_slice(run, s, i, way == 1);
        return;
    case LOOKING:
        look_again(run, s, i);
        return;
    case DONE:
        break;
    }
}

static uint64_t hash_of(const struct state *s)
{
    const uint8_t *bytes = (const uint8_t *)s;
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < sizeof *s; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return hash | 1;
}

static bool is_new(struct run *run, const struct state *s)
{
    const uint64_t hash = hash_of(s);
    uint64_t at = hash % SEEN;

    while (run->seen[at] != 0 && run->seen[at] != hash)
        at = (at + 1) % SEEN;
    if (run->seen[at] == hash)
        return false;
    run->seen[at] = hash;
    assert_true(++run->states < SEEN / 2);
    return true;
}

/* Nobody can do anything: then nobody waits. */
static void check_end(struct run *run, const struct state *s)
{
    for (uint32_t i = 0; i < run->members; i++) {
        if (!s->members[i].dead && s->members[i].place != DONE)
            run->wrong = "somebody waits for ever";
    }
}

static void explore(struct run *run, const struct state *s)
{
    bool stuck = true;

    if (run->wrong != NULL || !is_new(run, s))
        return;
    for (uint32_t i = 0; i < run->members; i++) {
        const uint32_t count = ways(run, s, i);

        for (uint32_t way = 0; way < 2; way++) {
            struct state next = *s;

            if (count == 0 || (count == 1 && way == 1) ||
                (s->members[i].place == WAITING &&
                 s->table.call == s->members[i].call &&
                 (count >> way & 1) == 0))
                continue;
            step(run, &next, i, way);
            explore(run, &next);
            stuck = false;
        }
        if (!s->members[i].dead && s->members[i].place != DONE &&
            s->kills < run->kills) {
            struct state next = *s;

            next.members[i].dead = 1;
            next.kills++;
            explore(run, &next);
        }
    }
    if (stuck)
        check_end(run, s);
}

static void begin(const struct run *run, struct state *s)
{
    memset(s, 0, sizeof *s);
    table_init(&s->table);
    for (uint32_t i = 0; i < run->members; i++) {
        assert_int_equal(table_claim(&s->table, &run->rules, i), TABLE_CHANGED);
        s->members[i].call = 1;
    }
}

static struct run new_run(uint32_t members, uint32_t calls, uint32_t kills)
{
    return (struct run){.members = members,
                        .calls = calls,
                        .kills = kills,
                        .rules = {.members_max = MOST, .least = 1}};
}

static void explore_all(struct run *run)
{
    struct state s;

    run->seen = calloc(SEEN, sizeof *run->seen);
    assert_non_null(run->seen);
    begin(run, &s);
    explore(run, &s);
    free(run->seen);
}

static void test_every_order(void **state)
{
    static const struct {
        uint32_t members, calls, kills;
        bool patience;
    } rows[] = {{2, 3, 1, false}, {2, 3, 1, true}, {3, 1, 2, false},
                {3, 2, 1, false}, {3, 1, 1, true}, {4, 1, 1, false}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct run run = new_run(rows[i].members, rows[i].calls, rows[i].kills);

        run.patience = rows[i].patience;
        explore_all(&run);
        if (run.wrong != NULL)
            fail_msg("%u members: %s", run.members, run.wrong);
        assert_true(run.returns > 100);
    }
}

/* One order, drawn. */
static void walk(struct run *run, struct rng *rng)
{
    struct state s;

    begin(run, &s);
    for (uint32_t idle = 0; idle < 400 && run->wrong == NULL;) {
        const uint32_t i = (uint32_t)rng_below(rng, run->members);
        const uint32_t count = ways(run, &s, i);
        uint32_t way = (uint32_t)rng_below(rng, 2);

        if (rng_below(rng, 60) == 0 && s.kills < run->kills &&
            !s.members[i].dead && s.members[i].place != DONE) {
            s.members[i].dead = 1;
            s.kills++;
        }
        if (s.members[i].dead || count == 0) {
            idle++;
            continue;
        }
        if (s.members[i].place == WAITING && s.table.call == s.members[i].call)
            way = (count >> way & 1) != 0 ? way : 1 - way;
        else if (count == 1)
            way = 0;
        step(run, &s, i, way);
        idle = 0;
    }
    if (run->wrong == NULL)
        check_end(run, &s);
}

static void test_many_members(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 17);
    for (uint32_t seed = 0; seed < 20000; seed++) {
        struct run run =
            new_run(2 + seed % 4, 1 + (uint32_t)rng_below(&rng, CALLS_MAX),
                    (uint32_t)rng_below(&rng, 4));

        run.patience = rng_chance(&rng, 0.5);
        run.kills = run.kills < run.members ? run.kills : run.members - 1;
        walk(&run, &rng);
        if (run.wrong != NULL)
            fail_msg("seed %u: %s", seed, run.wrong);
    }
}

static void test_planted(void **state)
{
    struct rng rng;

    (void)state;
    rng_init(&rng, 18);
    for (int bug = NO_BUG + 1; bug < BUGS; bug++) {
        const char *wrong = NULL;

        for (uint32_t seed = 0; seed < 200000 && wrong == NULL; seed++) {
            struct run run = new_run(2 + seed % 3, CALLS_MAX, 1);

            run.bug = (enum bug)bug;
            run.patience = seed % 2 == 0;
            walk(&run, &rng);
            wrong = run.wrong;
        }
        if (wrong == NULL)
            fail_msg("planted mistake %d is not found", bug);
    }
}

/* --- single rules -------------------------------------------------------- */

static const struct table_rules three = {.members_max = 4, .least = 3};

static enum table_answer gives(struct table *table, uint32_t seat,
                               uint64_t call)
{
    const struct table_gift gift = {
        .seat = seat, .call = call, .type = 1, .count = 8};

    return table_give(table, &three, &gift);
}

static void test_least(void **state)
{
    struct table table;

    (void)state;
    table_init(&table);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(table_claim(&table, &three, i), TABLE_CHANGED);
    assert_int_equal(gives(&table, 0, 1), TABLE_GIVEN);
    assert_int_equal(gives(&table, 1, 1), TABLE_GIVEN);
    assert_int_equal(table.call, 1); /* Too few. */
    assert_int_equal(table_claim(&table, &three, 2), TABLE_CHANGED);
    assert_int_equal(table.fresh, 0); /* It is waited for. */
    assert_int_equal(table_claim(&table, &three, 3), TABLE_CHANGED);
    assert_int_equal(table.fresh, 8);
    assert_int_equal(gives(&table, 2, 1), TABLE_GIVEN);
    assert_int_equal(table.call, 2);
    assert_int_equal(table_plan(&table, 1)->set, 7);
    assert_int_equal(table_plan(&table, 1)->members, 4);
    assert_int_equal(table.fresh, 0);
    assert_null(table_plan(&table, 2));
    /* Its seat is not another's as long as others are told of it. */
    assert_int_equal(table_expel(&table, &three, 4, 0), TABLE_CHANGED);
    assert_int_equal(table_claim(&table, &three, 2), TABLE_FULL);
    assert_int_equal(table_claim(&table, &three, 4), TABLE_CHANGED);
    assert_int_equal(table_claim(&table, &three, 5), TABLE_FULL);
}

static void test_withdraw_and_shape(void **state)
{
    struct table table;
    struct table_gift other = {.seat = 1, .call = 1, .type = 2, .count = 8};

    (void)state;
    table_init(&table);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(table_claim(&table, &three, i), TABLE_CHANGED);
    assert_int_equal(gives(&table, 0, 1), TABLE_GIVEN);
    assert_int_equal(table_give(&table, &three, &other), TABLE_SHAPE);
    assert_int_equal(table_withdraw(&table, 0, 1), TABLE_CHANGED);
    assert_int_equal(table_withdraw(&table, 0, 1), TABLE_NOTHING);
    assert_int_equal(table_give(&table, &three, &other), TABLE_GIVEN);
    assert_int_equal(table.type, 2);
}

static void test_slices(void **state)
{
    (void)state;
    for (uint64_t count = 1; count < 3000; count += 7) {
        for (uint32_t n = 1; n <= 9; n++) {
            assert_int_equal(table_slice(count, n, 0), 0);
            assert_int_equal(table_slice(count, n, n), count);
            for (uint32_t i = 0; i < n; i++) {
                const uint64_t from = table_slice(count, n, i);
                const uint64_t to = table_slice(count, n, i + 1);

                assert_true(from <= to);
                /* As much as a member has room for. */
                assert_true(n == 1 || to - from <= count / 2 + 160);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_order),
        cmocka_unit_test(test_many_members),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_withdraw_and_shape),
        cmocka_unit_test(test_slices),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
