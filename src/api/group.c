/*
 * group.c - muster_sum and its group.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "api/options.h"
#include "base/mem.h"
#include "core/sum/sum.h"
#include "node/group/group.h"
#include "node/host/ways.h"
#include "node/worker/worker_node.h"
#include "os/file/memory_file.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/signals.h"
#include "wire/codec.h"

#define MEMBERS_DEFAULT 64u
#define BYTES_DEFAULT   (UINT64_C(64) << 20)
#define BYTES_MAX       (UINT64_C(256) << 20) /* A link queues twice that. */
#define GIVE_UP_DEFAULT 30u
#define DEADLINE_MAX_S  1e9
#define CARD_NAME_SIZE  64u

_Static_assert((int)MUSTER_DOUBLE == (int)EXACT_F64, "one numbering");
_Static_assert((int)MUSTER_FLOAT == (int)EXACT_F32, "one numbering");

struct muster_group {
    struct group *member;
    struct group_host *host;   /* NULL: hosted elsewhere. */
    struct ways ways;          /* To the host. */
    int card;                  /* A host's, with its own key; else -1. */
    char name[CARD_NAME_SIZE]; /* ... and what it is called, in place of the
                                  address. */
};

static enum err check(const struct muster_group_options *o, struct why *why)
{
    if (o->members_max > SUM_SEATS_MAX)
        return why_set(why, ERR_SHAPE, "members_max must be at most %u",
                       SUM_SEATS_MAX);
    if (o->least > (o->members_max > 0 ? o->members_max : MEMBERS_DEFAULT))
        return why_set(why, ERR_SHAPE, "least is more than members_max");
    if (o->bytes_max > BYTES_MAX)
        return why_set(why, ERR_SHAPE, "bytes_max must be at most 256 MiB");
    return ERR_OK;
}

static enum err be_member(struct muster_group *group,
                          const struct muster_group_options *o, struct why *why)
{
    struct group_options options = {
        .address = group->ways.addresses[0],
        .token = &group->ways.token,
        .give_up_us =
            (o->give_up_s > 0 ? o->give_up_s : GIVE_UP_DEFAULT) * SECOND_US,
    };
    enum err err = join_name(o->name, options.token, options.name, why);

    return err == ERR_OK ? group_join(&options, &group->member, why) : err;
}

static enum err host(struct muster_group *group,
                     const struct muster_group_options *o, struct why *why)
{
    struct group_host_options options = {
        .listen = o->listen,
        .token = &group->ways.token,
        .near = o->token_file == NULL,
        .seats = o->members_max > 0 ? o->members_max : MEMBERS_DEFAULT,
        .least = o->least > 0 ? o->least : 1,
        .size_max = o->bytes_max > 0 ? o->bytes_max : BYTES_DEFAULT,
    };
    enum err err = ERR_OK;

    signals_keep(); /* What is written may be too much for a limit. */
    if (options.near)
        token_draw(&group->ways.token);
    else
        err = token_given(o->token_file, true, &group->ways.token, why);
    if (err == ERR_OK)
        err = group_host_open(&options, &group->host, why);
    if (err == ERR_OK)
        group->ways.addresses[0] = *group_host_local(group->host);
    if (err == ERR_OK && options.near)
        err = ways_new_card(&group->ways, &group->card, group->name,
                            sizeof group->name, why);
    signals_restore();
    return err == ERR_OK ? be_member(group, o, why) : err;
}

static enum err join(struct muster_group *group,
                     const struct muster_group_options *o, const char *address,
                     struct why *why)
{
    enum err err;

    if (address == NULL)
        return why_set(why, ERR_SHAPE, "there is no address to join");
    err = ways_open(address, o->token_file, false, &group->ways, why);
    return err == ERR_OK ? be_member(group, o, why) : err;
}

static enum muster_status open_group(const struct muster_group_options *given,
                                     bool hosts, const char *address,
                                     struct muster_group **group, char *why)
{
    struct why sentence = {{0}};
    struct muster_group_options o = {0};
    struct muster_group *made;
    enum err err =
        struct_take(given, STRUCT_LEAST(struct muster_group_options, name),
                    sizeof o, &o, &sentence);

    if (err == ERR_OK)
        err = check(&o, &sentence);

    if (group == NULL)
        return status_end(
            why_set(&sentence, ERR_SHAPE, "there is nowhere to put the group"),
            &sentence, why);
    *group = NULL;
    if (err != ERR_OK)
        return status_end(err, &sentence, why);
    made = mem_new(1, sizeof *made);
    if (made == NULL)
        return status_end(ERR_NOMEM, &sentence, why);
    made->card = -1;
    err =
        hosts ? host(made, &o, &sentence) : join(made, &o, address, &sentence);
    if (err == ERR_OK)
        *group = made;
    else
        muster_group_leave(made);
    return status_end(err, &sentence, why);
}

enum muster_status muster_group_host(const struct muster_group_options *options,
                                     struct muster_group **group, char *why)
{
    OUR_FLOATS;
    return open_group(options, true, NULL, group, why);
}

enum muster_status muster_group_join(const struct muster_group_options *options,
                                     const char *address,
                                     struct muster_group **group, char *why)
{
    OUR_FLOATS;
    return open_group(options, false, address, group, why);
}

const char *muster_group_address(const struct muster_group *group)
{
    if (group == NULL || group->host == NULL)
        return "";
    return group->card >= 0 ? group->name : group_host_address(group->host);
}

static enum err check_sum(const void *values, uint64_t count,
                          enum muster_type type, double deadline_s,
                          struct why *why)
{
    if (values == NULL || count == 0 || count > BYTES_MAX)
        return why_set(why, ERR_SHAPE, "there must be numbers to add");
    if (exact_size((enum exact_type)type) == 0)
        return why_set(why, ERR_SHAPE,
                       "the type must be MUSTER_DOUBLE or MUSTER_FLOAT");
    if (!(deadline_s >= 0 && deadline_s <= DEADLINE_MAX_S))
        return why_set(why, ERR_SHAPE,
                       "the deadline must be seconds from now, or 0");
    return ERR_OK;
}

/* As much as the caller has room for. */
static enum err tell(const struct group_info *told,
                     struct muster_sum_info *info, struct why *why)
{
    const struct muster_sum_info all = {
        .included = told->included,
        .call = told->call,
        .contributed = told->contributed,
        .members = told->members,
        .who = told->who,
    };

    return struct_give(info, STRUCT_LEAST(struct muster_sum_info, who),
                       sizeof all, &all, why);
}

enum muster_status muster_sum(struct muster_group *group, void *values,
                              uint64_t count, enum muster_type type,
                              double deadline_s, struct muster_sum_info *info,
                              char *why)
{
    OUR_FLOATS;
    struct why sentence = {{0}};
    struct group_info told = {.who = ""};
    enum err err = check_sum(values, count, type, deadline_s, &sentence);

    if (group == NULL)
        err = why_set(&sentence, ERR_SHAPE, "there is no group");
    if (err == ERR_OK && info != NULL)
        err = tell(&told, info, &sentence); /* Before anything is given. */
    if (group == NULL || err != ERR_OK)
        return status_end(err, &sentence, why);
    err = group_sum(group->member, (enum exact_type)type, values, count,
                    (time_us)ceil(deadline_s * 1e6), &told, &sentence);
    if (info != NULL && tell(&told, info, NULL) != ERR_OK)
        err = ERR_SHAPE; /* It fitted before. */
    return status_end(err, &sentence, why);
}

void muster_cancel(struct muster_group *group)
{
    if (group != NULL)
        group_cancel(group->member);
}

void muster_group_leave(struct muster_group *group)
{
    if (group == NULL)
        return;
    group_leave(group->member);
    group_host_close(group->host);
    ways_close(&group->ways);
    memory_file_free(group->card);
    mem_free(group);
}
