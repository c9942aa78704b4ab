/*
 * table.c - the changes of the table of a group on one machine.
 */
#include "core/sum/table.h"

#include <stddef.h>

#include "base/check.h"

#define LINE_NUMBERS 16u /* At least a cache line of any type. */

static uint64_t bit(uint32_t seat)
{
    CHECK(seat < TABLE_SEATS);
    return UINT64_C(1) << seat;
}

uint32_t table_count(uint64_t seats)
{
    return (uint32_t)__builtin_popcountll(seats);
}

void table_init(struct table *table)
{
    *table = (struct table){.call = 1, .close_at = TIME_NEVER};
}

uint64_t table_waits_for(const struct table *table)
{
    return table->taken & ~table->given & ~table->fresh;
}

static void open_next(struct table *table)
{
    table->call++;
    table->given = table->fresh = 0;
    table->type = table->count = 0;
    table->close_at = TIME_NEVER;
}

static bool may_close(const struct table *table,
                      const struct table_rules *rules, time_us now)
{
    if (table->given == 0 || table_count(table->given) < rules->least)
        return false;
    return table_waits_for(table) == 0 || now >= table->close_at;
}

/* Too few are left without those who came late: they are waited for, too. */
static void call_in(struct table *table, const struct table_rules *rules)
{
    if (table_count(table->given | table_waits_for(table)) < rules->least)
        table->fresh = 0;
}

enum table_answer table_settle(struct table *table,
                               const struct table_rules *rules, time_us now)
{
    call_in(table, rules);
    if (!may_close(table, rules, now))
        return TABLE_NOTHING;
    table->plans[table->call & 1] = (struct table_plan){
        .call = table->call,
        .set = table->given,
        .members = table_count(table->taken | table->given),
        .type = table->type,
        .count = table->count,
    };
    open_next(table);
    return TABLE_CHANGED;
}

enum table_answer table_claim(struct table *table,
                              const struct table_rules *rules, uint32_t seat)
{
    const uint64_t mine = bit(seat);

    if ((mine & (table->given | table->plans[0].set | table->plans[1].set)) !=
            0 ||
        table_count(table->taken & ~mine) >= rules->members_max)
        return TABLE_FULL;
    table->taken |= mine;
    table->fresh &= ~mine;
    if (table->given != 0 &&
        table_count(table->given | (table_waits_for(table) & ~mine)) >=
            rules->least)
        table->fresh |= mine;
    return TABLE_CHANGED;
}

enum table_answer table_give(struct table *table,
                             const struct table_rules *rules,
                             const struct table_gift *gift)
{
    const uint64_t mine = bit(gift->seat);

    CHECK(gift->call <= table->call && (table->given & mine) == 0);
    if (gift->call + 1 == table->call)
        return TABLE_LATE;
    if (gift->call < table->call)
        return TABLE_MISSED;
    if (table->given != 0 &&
        (table->type != gift->type || table->count != gift->count))
        return TABLE_SHAPE;
    table->taken |= mine; /* It was taken for dead, but here it is. */
    table->given |= mine;
    table->type = gift->type;
    table->count = gift->count;
    if (gift->patience_us > 0)
        table->close_at =
            time_sooner(table->close_at, gift->now + gift->patience_us);
    (void)table_settle(table, rules, gift->now);
    return TABLE_GIVEN;
}

enum table_answer table_withdraw(struct table *table, uint32_t seat,
                                 uint64_t call)
{
    const uint64_t mine = bit(seat);

    if (table->call != call || (table->given & mine) == 0)
        return TABLE_NOTHING;
    table->given &= ~mine;
    if (table->given == 0)
        table->close_at = TIME_NEVER;
    return TABLE_CHANGED;
}

enum table_answer table_expel(struct table *table,
                              const struct table_rules *rules, uint64_t seats,
                              time_us now)
{
    const uint64_t gone = table->taken & seats;

    if (gone == 0)
        return TABLE_NOTHING;
    table->taken &= ~gone;
    table->fresh &= ~gone;
    (void)table_settle(table, rules, now);
    return TABLE_CHANGED;
}

const struct table_plan *table_plan(const struct table *table, uint64_t call)
{
    const struct table_plan *plan = &table->plans[call & 1];

    return plan->call == call ? plan : NULL;
}

bool table_holds(const struct table *table, uint64_t call)
{
    return table->call < call + 2;
}

uint64_t table_slice(uint64_t count, uint32_t slices, uint32_t index)
{
    CHECK(slices > 0 && index <= slices);
    if (index == slices)
        return count;
    return count / slices * index / LINE_NUMBERS * LINE_NUMBERS;
}
