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
#include "core/sum/table.h"
#include "node/group/group.h"
#include "node/group/near.h"
#include "node/host/ways.h"
#include "node/worker/worker_node.h"
#include "os/file/memory_file.h"
#include "os/net/net.h"
#include "os/net/token.h"
#include "os/run/signals.h"
#include "wire/codec.h"

#define MEMBERS_DEFAULT 64u
#define BYTES_DEFAULT   (UINT64_C(64) << 20)
#define GIVE_UP_DEFAULT 30u
#define DEADLINE_MAX_S  1e9

_Static_assert((int)MUSTER_DOUBLE == (int)EXACT_F64, "one numbering");
_Static_assert((int)MUSTER_FLOAT == (int)EXACT_F32, "one numbering");
_Static_assert((int)MUSTER_INT64 == (int)EXACT_I64, "one numbering");

struct muster_group {
    struct near *near;    /* On this machine, or else ... */
    struct group *member; /* ... by links. */
    struct ways ways;     /* To the one that is joined. */
};

static enum err check(const struct muster_group_options *o, struct why *why)
{
    if (o->members_max > TABLE_SEATS)
        return why_set(why, ERR_SHAPE, "members_max must be at most %u",
                       TABLE_SEATS);
    if (o->least > (o->members_max > 0 ? o->members_max : MEMBERS_DEFAULT))
        return why_set(why, ERR_SHAPE, "least is more than members_max");
    if (o->bytes_max > SUM_BYTES_MAX)
        return why_set(why, ERR_SHAPE, "bytes_max must be at most 256 MiB");
    if (o->plain > 1)
        return why_set(why, ERR_SHAPE, "plain must be 0 or 1");
    return ERR_OK;
}

/* `join` NULL: begin one. */
static enum err be_member(struct muster_group *group,
                          const struct muster_group_options *o,
                          const struct net_address *join, struct why *why)
{
    struct group_options options = {
        .join = join,
        .listen = o->listen,
        .token = &group->ways.token,
        .plain = o->plain != 0,
        .members_max = o->members_max > 0 ? o->members_max : MEMBERS_DEFAULT,
        .least = o->least > 0 ? o->least : 1,
        .size_max = o->bytes_max > 0 ? o->bytes_max : BYTES_DEFAULT,
        .give_up_us =
            (o->give_up_s > 0 ? o->give_up_s : GIVE_UP_DEFAULT) * SECOND_US,
    };
    enum err err = join_name(o->name, options.token, options.name, why);

    return err == ERR_OK ? group_open(&options, &group->member, why) : err;
}

/* Without a token's file: processes of this user on this machine. */
static enum err be_near(struct muster_group *group,
                        const struct muster_group_options *o,
                        const char *address, struct why *why)
{
    struct near_options options = {
        .members_max = o->members_max > 0 ? o->members_max : MEMBERS_DEFAULT,
        .least = o->least > 0 ? o->least : 1,
        .size_max = o->bytes_max > 0 ? o->bytes_max : BYTES_DEFAULT,
        .give_up_us =
            (o->give_up_s > 0 ? o->give_up_s : GIVE_UP_DEFAULT) * SECOND_US,
    };
    const struct token none = {.name = TOKEN_CLUSTER};
    enum err err = join_name(o->name, &none, options.name, why);

    if (err == ERR_OK && o->listen != NULL)
        err = why_set(why, ERR_DENIED,
                      "a group without a token_file is for processes of this "
                      "machine, and listens nowhere");
    signals_keep(); /* What is shared may be too much for a limit. */
    if (err == ERR_OK)
        err = near_open(&options, address, &group->near, why);
    signals_restore();
    return err;
}

static enum err host(struct muster_group *group,
                     const struct muster_group_options *o, struct why *why)
{
    enum err err;

    if (o->token_file == NULL)
        return be_near(group, o, NULL, why);
    err = token_given(o->token_file, true, &group->ways.token, why);
    return err == ERR_OK ? be_member(group, o, NULL, why) : err;
}

static enum err join(struct muster_group *group,
                     const struct muster_group_options *o, const char *address,
                     struct why *why)
{
    enum err err;

    if (address == NULL)
        return why_set(why, ERR_SHAPE, "there is no address to join");
    if (memory_file_is_name(address))
        return be_near(group, o, address, why);
    if (o->token_file == NULL)
        return why_set(why, ERR_SHAPE,
                       "%.200s: not the address of a group on this machine; "
                       "others need a token_file",
                       address);
    err = ways_open(address, o->token_file, true, &group->ways, why);
    return err == ERR_OK ? be_member(group, o, &group->ways.addresses[0], why)
                         : err;
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
    if (group != NULL && group->near != NULL)
        return near_address(group->near);
    return group != NULL && group->member != NULL ? group_address(group->member)
                                                  : "";
}

static enum err check_sum(const void *values, uint64_t count,
                          enum muster_type type, double deadline_s,
                          struct why *why)
{
    if (values == NULL || count == 0 || count > SUM_BYTES_MAX)
        return why_set(why, ERR_SHAPE, "there must be numbers to add");
    if (exact_size((enum exact_type)type) == 0)
        return why_set(why, ERR_SHAPE,
                       "the type must be MUSTER_DOUBLE, MUSTER_FLOAT or "
                       "MUSTER_INT64");
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

static enum err sum_near(struct muster_group *group, enum exact_type type,
                         void *values, uint64_t count, time_us patience_us,
                         struct group_info *info, struct why *why)
{
    return near_sum(group->near, type, values, count, patience_us, info, why);
}

static enum err sum_far(struct muster_group *group, enum exact_type type,
                        void *values, uint64_t count, time_us patience_us,
                        struct group_info *info, struct why *why)
{
    return group_sum(group->member, type, values, count, patience_us, info,
                     why);
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
    err = (group->near != NULL ? sum_near : sum_far)(
        group, (enum exact_type)type, values, count,
        (time_us)ceil(deadline_s * 1e6), &told, &sentence);
    if (info != NULL && tell(&told, info, NULL) != ERR_OK)
        err = ERR_SHAPE; /* It fitted before. */
    return status_end(err, &sentence, why);
}

void muster_cancel(struct muster_group *group)
{
    if (group != NULL && group->near != NULL)
        near_cancel(group->near);
    else if (group != NULL)
        group_cancel(group->member);
}

void muster_group_leave(struct muster_group *group)
{
    if (group == NULL)
        return;
    near_leave(group->near);
    group_leave(group->member);
    ways_close(&group->ways);
    mem_free(group);
}
