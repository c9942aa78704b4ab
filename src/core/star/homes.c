/*
 * homes.c - who has which rows, when nobody can be sent any (HOME-n in
 * docs/protocol.md).
 *
 * A home whose owners are all away leaves its chunks without anybody who could
 * compute them.  An exact step waits for one to come back, and says so; it is
 * given the pieces at once, within the step.  A step of a code that may leave
 * some out goes on without.  No wait is for ever (P7): `owner_us`.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/star/coordinator_parts.h"

#define NO_HOME UINT32_MAX
#define TELL_US (500 * MS_US) /* Who is back sooner was not missed. */

bool homes_on(const struct coordinator *c)
{
    return c->options.home_count > 0;
}

enum err homes_room(struct coordinator *c)
{
    const uint32_t count = c->options.home_count;
    struct homes *homes = &c->homes;

    if (count == 0)
        return ERR_OK;
    CHECK(count <= HOMES_MAX && c->options.homes[0].first == 0);
    CHECK(c->options.homes[count - 1].end == c->options.job.chunks);
    homes->state = mem_new(count, sizeof *homes->state);
    homes->chunk = mem_new((size_t)count + 1, sizeof *homes->chunk);
    homes->slot = mem_new((size_t)count + 1, sizeof *homes->slot);
    if (homes->state == NULL || homes->chunk == NULL || homes->slot == NULL)
        return ERR_NOMEM;
    for (uint32_t h = 0; h < count; h++) {
        homes->chunk[h + 1] = c->options.homes[h].end;
        homes->slot[h + 1] = h + 1;
        homes->state[h].away_since = TIME_NEVER;
    }
    homes->code = (struct code_homes){
        .count = count, .chunk = homes->chunk, .slot = homes->slot};
    c->recoding.wanted.homes = &homes->code;
    return ERR_OK;
}

void homes_close(struct coordinator *c)
{
    mem_free(c->homes.state);
    mem_free(c->homes.chunk);
    mem_free(c->homes.slot);
}

static uint32_t find(const struct coordinator *c, const struct digest *part)
{
    for (uint32_t h = 0; h < c->options.home_count; h++) {
        if (digest_equal(&c->options.homes[h].part, part))
            return h;
    }
    return NO_HOME;
}

const char *homes_objection(const struct coordinator *c,
                            const struct msg_hello *hello)
{
    if (hello->owns && !homes_on(c))
        return "this run sends its rows to its workers; leave out "
               "--data-private to join it";
    if (!homes_on(c))
        return NULL;
    if (!hello->owns)
        return "the rows of this run stay with their owners; join with "
               "--data-private FILE";
    if (!digest_equal(&hello->data, &c->options.job.data) ||
        find(c, &hello->part) == NO_HOME)
        return "this run was begun with other files; start the worker anew, "
               "with a file that was there at the beginning";
    return NULL;
}

void homes_admit(struct coordinator *c, uint32_t link,
                 const struct msg_hello *hello)
{
    struct member *member = &c->members[link];

    if (!homes_on(c))
        return;
    member->home = find(c, &hello->part);
    CHECK(member->home != NO_HOME);
    chunkset_clear(&member->held);
    chunkset_add_range(&member->held, c->options.homes[member->home].first,
                       c->options.homes[member->home].end);
    member->counting = false;
    memcpy(c->homes.state[member->home].name, member->name, NAME_SIZE);
}

static uint32_t owners(const struct coordinator *c, uint32_t home)
{
    uint32_t count = 0;

    for (uint32_t link = 0; link < c->members_max; link++)
        count += member_here(c, link) && c->members[link].home == home;
    return count;
}

bool homes_manned(const struct coordinator *c)
{
    for (uint32_t h = 0; h < c->options.home_count; h++) {
        if (owners(c, h) == 0)
            return false;
    }
    return true;
}

bool homes_recount(struct coordinator *c)
{
    uint32_t slots = 0;
    bool changed = false;

    for (uint32_t h = 0; h < c->options.home_count; h++) {
        const uint32_t count = owners(c, h);

        slots += count > 0 ? count : 1;
        changed = changed || c->homes.slot[h + 1] != slots;
        c->homes.slot[h + 1] = slots;
    }
    return changed;
}

uint32_t homes_slots(const struct coordinator *c)
{
    return c->homes.slot[c->options.home_count];
}

uint32_t homes_slot_first(const struct coordinator *c, uint32_t link)
{
    return c->homes.slot[c->members[link].home];
}

uint32_t homes_slot_end(const struct coordinator *c, uint32_t link)
{
    return c->homes.slot[c->members[link].home + 1];
}

uint64_t homes_rows(const struct coordinator *c, const struct chunkset *chunks)
{
    const uint32_t each = c->options.job.chunk_rows;
    uint64_t rows = (uint64_t)chunks->members * each;

    for (uint32_t h = 0; h < c->options.home_count; h++) {
        const struct home *home = &c->options.homes[h];

        if (chunkset_has(chunks, home->end - 1))
            rows -= (uint64_t)(home->end - home->first) * each - home->rows;
    }
    return rows;
}

/* Is the round, or the start of one, waiting for this very home? */
static bool is_missed(struct coordinator *c, uint32_t home)
{
    const struct home *at = &c->options.homes[home];

    if (c->phase == COORDINATOR_GATHERING)
        return true;
    return c->phase == COORDINATOR_ROUND &&
           !chunkset_has_range(&c->tally.chunks, at->first, at->end) &&
           !view_feasible(c);
}

static uint64_t first_row(const struct coordinator *c, uint32_t home)
{
    uint64_t row = 0;

    for (uint32_t h = 0; h < home; h++)
        row += c->options.homes[h].rows;
    return row;
}

static void tell(struct coordinator *c, uint32_t home, enum trace_kind kind,
                 struct actions *actions)
{
    struct trace *trace = coordinator_trace(c, actions, kind, LINK_NONE);

    trace->a = first_row(c, home);
    trace->b = c->options.homes[home].rows;
    if (is_missed(c, home))
        trace->value = (double)c->options.owner_us / (double)SECOND_US;
    memcpy(trace->name, c->homes.state[home].name, NAME_SIZE);
}

static void give_up(struct coordinator *c, uint32_t home,
                    struct actions *actions)
{
    const char *name = c->homes.state[home].name;
    const uint64_t row = first_row(c, home);

    commit_give_up(c, actions, ERR_CLOSED,
                   "the owner of rows %llu to %llu (%s) has been away for "
                   "%.0f s",
                   (unsigned long long)row,
                   (unsigned long long)row + c->options.homes[home].rows - 1,
                   name[0] == '\0' ? "never seen" : name,
                   (double)c->options.owner_us / (double)SECOND_US);
}

static void came_home(struct coordinator *c, uint32_t home,
                      struct actions *actions)
{
    struct home_state *state = &c->homes.state[home];

    if (state->told)
        tell(c, home, TRACE_HOME, actions);
    state->told = false;
    state->away_since = TIME_NEVER;
}

static void is_away(struct coordinator *c, uint32_t home,
                    struct actions *actions)
{
    struct home_state *state = &c->homes.state[home];

    if (state->away_since == TIME_NEVER)
        state->away_since = c->now;
    if (!state->told && c->now - state->away_since >= TELL_US) {
        state->told = true;
        tell(c, home, TRACE_AWAY, actions);
    }
    if (c->now - state->away_since >= c->options.owner_us && is_missed(c, home))
        give_up(c, home, actions);
}

void homes_watch(struct coordinator *c, struct actions *actions)
{
    for (uint32_t h = 0; h < c->options.home_count; h++) {
        if (c->phase == COORDINATOR_FAILED)
            return;
        if (owners(c, h) > 0)
            came_home(c, h, actions);
        else
            is_away(c, h, actions);
    }
}
