/*
 * shuffle_plan.c - shares and caches of coded shuffling, drawn pass by pass.
 *
 * Balanced: let a row's type be the set of workers other than its home that
 * hold it.  Independent caches give a type T the probability p^|T|
 * (1-p)^(n-1-|T|). Here every share has exactly that part of each type.  A deal
 * hands the rows of one type in equal numbers to all workers; afterwards the
 * old home keeps a part p of those rows that go to one worker and are held by
 * the same others, whose types then have their parts again.  So the numbers of
 * every pass are the expected ones, and one draw differs from another in the
 * rows alone.
 */
#include "shuffle_plan.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void fail(const char *format, ...)
{
    va_list list;

    (void)fputs("shuffle: ", stderr);
    va_start(list, format);
    (void)vfprintf(stderr, format, list);
    va_end(list);
    (void)fputc('\n', stderr);
    exit(1);
}

void *room(size_t count, size_t size)
{
    void *made = calloc(count > 0 ? count : 1, size);

    if (made == NULL)
        fail("no memory");
    return made;
}

/* --- draws (splitmix64) --------------------------------------------------- */

uint64_t draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void mix_order(uint32_t *list, uint32_t count, uint64_t *state)
{
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t at = (uint32_t)(draw(state) % i);
        const uint32_t other = list[at];

        list[at] = list[i - 1];
        list[i - 1] = other;
    }
}

/* --- the plan: who works on what, and who holds it ------------------------ */

struct keyed {
    uint64_t key;
    uint32_t place, row;
};

uint32_t bit(uint32_t worker)
{
    return 1u << worker;
}

uint32_t share_of(const struct setting *set)
{
    return set->rows / set->n;
}

/* Rows of others that a worker keeps: p (q - q / n). */
uint32_t extra_of(const struct setting *set)
{
    return (uint32_t)((uint64_t)(set->rows - share_of(set)) * set->keep /
                      set->of);
}

static int by_key(const void *a, const void *b)
{
    const struct keyed *one = a, *two = b;

    if (one->key != two->key)
        return one->key < two->key ? -1 : 1;
    return one->place < two->place ? -1 : one->place > two->place;
}

/* All rows in an order drawn anew, then sorted by their keys. */
static void sort_rows(struct plan *plan, const uint64_t *keys)
{
    const uint32_t rows = plan->set->rows;

    mix_order(plan->order, rows, &plan->state);
    for (uint32_t i = 0; i < rows; i++)
        plan->sorted[i] = (struct keyed){
            .key = keys[plan->order[i]], .place = i, .row = plan->order[i]};
    qsort(plan->sorted, rows, sizeof *plan->sorted, by_key);
}

static uint32_t run_length(const struct plan *plan, uint32_t from)
{
    uint32_t end = from;

    while (end < plan->set->rows &&
           plan->sorted[end].key == plan->sorted[from].key)
        end++;
    return end - from;
}

/* Worker `who` takes `count` rows of `list` into its cache. */
static void hold_some(struct plan *plan, uint32_t who, uint32_t *list,
                      uint32_t length, uint32_t count)
{
    mix_order(list, length, &plan->state);
    for (uint32_t i = 0; i < count; i++)
        plan->held[list[i]] |= bit(who);
}

static void place_random(struct plan *plan)
{
    const struct setting *set = plan->set;

    for (uint32_t who = 0; who < set->n; who++) {
        uint32_t length = 0;

        for (uint32_t row = 0; row < set->rows; row++)
            if (plan->home[row] != who)
                plan->order[length++] = row;
        hold_some(plan, who, plan->order, length, extra_of(set));
    }
    for (uint32_t row = 0; row < set->rows; row++)
        plan->order[row] = row;
}

/* keep^in (of - keep)^out: parts of of^(in + out). */
static uint64_t parts_of(const struct setting *set, uint32_t in, uint32_t out)
{
    uint64_t parts = 1;

    while (in-- > 0)
        parts *= set->keep;
    while (out-- > 0)
        parts *= set->of - set->keep;
    return parts;
}

static uint64_t all_parts(const struct setting *set)
{
    uint64_t parts = 1;

    for (uint32_t i = 1; i < set->n; i++)
        parts *= set->of;
    return parts;
}

static uint32_t count_bits(uint32_t mask)
{
    uint32_t count = 0;

    for (; mask != 0; mask &= mask - 1)
        count++;
    return count;
}

/* Of a worker's share, the expected number for each set of others. */
static void place_balanced(struct plan *plan, uint64_t *keys)
{
    const struct setting *set = plan->set;
    const uint64_t unit = share_of(set) / all_parts(set);
    uint32_t at = 0;

    for (uint32_t row = 0; row < set->rows; row++)
        keys[row] = plan->home[row];
    sort_rows(plan, keys);
    for (uint32_t who = 0; who < set->n; who++)
        for (uint32_t mask = 0; mask < bit(set->n); mask++) {
            const uint32_t others = count_bits(mask);

            if ((mask & bit(who)) != 0)
                continue;
            for (uint64_t left =
                     unit * parts_of(set, others, set->n - 1 - others);
                 left > 0; left--)
                plan->held[plan->sorted[at++].row] |= mask;
        }
}

void plan_open(struct plan *plan, const struct setting *set)
{
    uint64_t *keys = room(set->rows, sizeof *keys);

    *plan = (struct plan){
        .set = set,
        .state = ~(uint64_t)set->seed,
        .home = room(set->rows, sizeof *plan->home),
        .next = room(set->rows, sizeof *plan->next),
        .held = room(set->rows, sizeof *plan->held),
        .order = room(set->rows, sizeof *plan->order),
        .sorted = room(set->rows, sizeof *plan->sorted),
    };
    for (uint32_t row = 0; row < set->rows; row++)
        plan->order[row] = row;
    if (set->dealing != DEAL_NEVER)
        mix_order(plan->order, set->rows, &plan->state);
    for (uint32_t i = 0; i < set->rows; i++) {
        plan->home[plan->order[i]] = i / share_of(set);
        plan->held[plan->order[i]] = bit(i / share_of(set));
    }
    if (set->random)
        place_random(plan);
    else
        place_balanced(plan, keys);
    free(keys);
}

void plan_close(struct plan *plan)
{
    free(plan->home);
    free(plan->next);
    free(plan->held);
    free(plan->order);
    free(plan->sorted);
}

/* Who works on what in the next pass. */
void plan_deal(struct plan *plan)
{
    const struct setting *set = plan->set;
    uint64_t *keys = room(set->rows, sizeof *keys);

    for (uint32_t row = 0; row < set->rows; row++)
        keys[row] =
            set->random ? 0 : (uint64_t)plan->home[row] << 32 | plan->held[row];
    sort_rows(plan, keys);
    for (uint32_t from = 0; from < set->rows;) {
        const uint32_t length = run_length(plan, from);

        for (uint32_t i = 0; i < length; i++)
            plan->next[plan->sorted[from + i].row] =
                set->random ? i / share_of(set) : i % set->n;
        from += length;
    }
    free(keys);
}

/* Rows given away fill the room of those that were cached and are now worked
 * on: there are enough of them, since both are of one share's size. */
static void keep_random(struct plan *plan)
{
    const struct setting *set = plan->set;

    for (uint32_t who = 0; who < set->n; who++) {
        uint32_t length = 0, missing = 0;

        for (uint32_t row = 0; row < set->rows; row++) {
            missing += plan->home[row] != who && plan->next[row] == who &&
                       (plan->held[row] & bit(who)) != 0;
            if (plan->home[row] != who || plan->next[row] == who)
                continue;
            plan->held[row] &= ~bit(who);
            plan->order[length++] = row;
        }
        hold_some(plan, who, plan->order, length, missing);
    }
    for (uint32_t row = 0; row < set->rows; row++)
        plan->order[row] = row;
}

/* The same with its part p of the rows that the same others hold. */
static void keep_balanced(struct plan *plan)
{
    const struct setting *set = plan->set;
    uint64_t *keys = room(set->rows, sizeof *keys);

    for (uint32_t row = 0; row < set->rows; row++)
        keys[row] =
            ((uint64_t)plan->home[row] * set->n + plan->next[row]) << 32 |
            (plan->held[row] & ~bit(plan->home[row]) & ~bit(plan->next[row]));
    sort_rows(plan, keys);
    for (uint32_t from = 0; from < set->rows;) {
        const uint32_t length = run_length(plan, from);

        for (uint32_t i = length / set->of * set->keep; i < length; i++) {
            const uint32_t row = plan->sorted[from + i].row;

            if (plan->next[row] != plan->home[row])
                plan->held[row] &= ~bit(plan->home[row]);
        }
        from += length;
    }
    free(keys);
}

/* The rows are delivered: the next pass is this one. */
void plan_turn(struct plan *plan)
{
    if (plan->set->random)
        keep_random(plan);
    else
        keep_balanced(plan);
    for (uint32_t row = 0; row < plan->set->rows; row++) {
        plan->home[row] = plan->next[row];
        plan->held[row] |= bit(plan->home[row]);
    }
}

uint64_t rows_step(const struct setting *set)
{
    /* Shares are equal, caches whole; balanced needs whole sets, too. */
    return set->random ? (uint64_t)set->n * set->of
                       : (uint64_t)set->n * set->n * all_parts(set);
}

double formula(const struct setting *set)
{
    const double n = set->n, q = set->rows;
    const double p = (double)set->keep / set->of;
    double power = 1;

    if (set->keep == 0)
        return q * (n - 1) / (2 * n); /* The limit. */
    for (uint32_t i = 0; i <= set->n; i++)
        power *= 1 - p;
    return q / (n * p * n * p) *
           (power + (n - 1) * p * (1 - p) - (1 - p) * (1 - p));
}

/* --- messages ------------------------------------------------------------- */

/* Rows that are wanted, sorted by the set that they are exchanged in: who wants
 * a row and all who hold it. */
static uint32_t sort_wanted(struct plan *plan)
{
    uint32_t count = 0;

    for (uint32_t row = 0; row < plan->set->rows; row++) {
        const uint32_t who = plan->next[row];

        if ((plan->held[row] & bit(who)) == 0)
            plan->sorted[count++] = (struct keyed){
                .key = (uint64_t)(plan->held[row] | bit(who)) << 8 | who,
                .place = row,
                .row = row};
    }
    qsort(plan->sorted, count, sizeof *plan->sorted, by_key);
    return count;
}

static void add_message(struct messages *all, uint32_t to)
{
    struct message *made = &all->list[all->count++];

    made->to = to;
    for (uint32_t i = 0; i < WORKERS_MAX; i++)
        made->rows[i] = NO_ROW;
}

void plan_messages(struct plan *plan, struct messages *all)
{
    const bool coded = !plan->set->uncoded;
    uint32_t first = 0, at = 0, set = 0, who = WORKERS_MAX;

    all->count = 0;
    all->wanted = sort_wanted(plan);
    for (uint32_t i = 0; i < all->wanted; i++) {
        const uint32_t to = (uint32_t)(plan->sorted[i].key >> 8);
        const uint32_t wants = (uint32_t)(plan->sorted[i].key & 255);

        if (to != set)
            first = all->count;
        if (to != set || wants != who)
            at = first;
        set = to, who = wants;
        if (!coded)
            at = all->count;
        if (at == all->count)
            add_message(all, coded ? to : bit(wants));
        all->list[at++].rows[wants] = plan->sorted[i].row;
    }
}
