/*
 * roll.c - the coordinator's side of the roll call for private data: owners
 * offer, agree on a schema, and add up sizes and sums, each stage complete
 * before the next begins.
 */
#include "node/owners/roll.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "core/link/greeting.h"
#include "node/host/answer.h"
#include "node/host/farewell.h"
#include "node/host/reject_log.h"
#include "node/owners/owner.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link.h"
#include "os/run/loop.h"
#include "wire/codec.h"
#include "wire/roll_codec.h"

#define SAID_US     (5 * SECOND_US) /* Between two words on who is awaited. */
#define PART_US     (2 * SECOND_US) /* For last words. */
#define PLAIN_BYTES 1024u

enum stage { STAGE_OFFERS, STAGE_SIZES, STAGE_SUMS, STAGE_OVER };

struct roll {
    struct roll_options options;
    struct loop *loop;
    struct timer *timer;
    time_us fails_at; /* Unless somebody comes before. */
    struct link_hub *hub;
    struct reject_log rejects;
    struct owner *owners;
    enum stage stage;

    /* From the schema on: */
    struct parts *parts;
    uint32_t dims;
    bool *sized, *summed; /* By home. */
    struct bounds_sizes sizes;
    int16_t *scale;
    int64_t *sum;
    struct farewell farewell;

    enum err err;
    struct why *why;
};

/* --- sending ---------------------------------------------------------------
 */

static void say(struct link *link, const struct roll_msg *msg)
{
    uint8_t *bytes = mem_new(roll_codec_bound(msg), 1);

    if (bytes == NULL) {
        link_close(link);
        return;
    }
    link_send(link, PLANE_CONTROL, bytes, roll_codec_encode(msg, bytes));
    mem_free(bytes);
}

static void say_no(struct link *link, const char *reason)
{
    struct roll_msg msg = {.kind = ROLL_NO};

    (void)snprintf(msg.no.reason, sizeof msg.no.reason, "%s", reason);
    say(link, &msg);
}

static void say_schema(const struct roll *roll, const struct owner *owner,
                       bool known)
{
    const uint32_t home = parts_find(roll->parts, &owner->part);
    const struct roll_msg msg = {
        .kind = ROLL_SCHEMA, .schema = parts_schema(roll->parts, home, known)};

    say(owner->link, &msg);
}

static void say_scales(const struct roll *roll, const struct owner *owner)
{
    const struct roll_msg msg = {
        .kind = ROLL_SCALES,
        .scales = {.dims = roll->dims, .scale = (uint8_t *)roll->scale}};

    say(owner->link, &msg);
}

/* --- owners -----------------------------------------------------------------
 */

static void drop(struct roll *roll, struct owner *owner)
{
    link_set_user(owner->link, NULL);
    owner_drop(&roll->owners, owner);
}

static void note_refusal(struct roll *roll, const struct link *link,
                         const char *reason)
{
    char text[NET_TEXT_SIZE + REASON_SIZE + 32];

    (void)snprintf(text, sizeof text, "%s was turned away: %s",
                   link_address(link), reason);
    reject_log_add(&roll->rejects, clock_now_us(), text);
}

static void turn_away(struct roll *roll, struct owner *owner,
                      const char *reason)
{
    struct link *link = owner->link;

    note_refusal(roll, link, reason);
    say_no(link, reason);
    drop(roll, owner);
    link_close(link);
}

static const char too_many[] =
    "this run has begun, with other files; wait for the next, or raise the "
    "number that --owners has there";

static const char other_columns[] =
    "the columns have other names, or another order, than those of the owners "
    "who are here, or only one side has names, or indices start at 0 on one "
    "side and at 1 on the other; the same columns in the same order are "
    "needed, the label's too (--drop, --label, --header, --zero-based)";

static const char other_images[] =
    "its rows are images of another shape than those of the owners who are "
    "here, or only one side knows that they are images (--shape)";

static const char not_star[] =
    "this is the roll of a ring, whose peers all train; come with `muster "
    "train --topology ring --owners N --data-private FILE --peers ADDRESS`";

static const char not_ring[] =
    "this run has a coordinator; come with `muster join ADDRESS "
    "--data-private FILE`";

static const char *objection(const struct roll *roll, const struct owner *owner,
                             const struct roll_offer *offer)
{
    const char *no = greeting_objection(offer->version, &offer->arithmetic,
                                        &roll->options.arithmetic);

    if (no != NULL)
        return no;
    if (roll->options.ring && !link_may_be(owner->link, TOKEN_CLUSTER))
        return "a peer of a ring needs the cluster's token, not a worker's own";
    if (!link_may_be(owner->link, offer->name))
        return "the token is another worker's; use its name";
    if (roll->stage != STAGE_OFFERS &&
        parts_find(roll->parts, &offer->part) == roll->parts->count)
        return too_many;
    if (owners_named(roll->owners, owner, offer))
        return "an owner of other rows who is here has the same name; each "
               "needs one of its own (--name)";
    if (!owners_agree(roll->owners, owner, offer))
        return other_columns;
    if (!owners_alike(roll->owners, owner, offer))
        return other_images;
    return NULL;
}

/* The next look: at the end of the patience or of all time, or to say that
 * somebody is still awaited. */
static void look_later(struct roll *roll)
{
    const time_us end = time_sooner(roll->fails_at, roll->options.until);

    timer_at(roll->timer, time_sooner(end, clock_now_us() + SAID_US));
}

static void progress(struct roll *roll)
{
    roll->fails_at = clock_now_us() + roll->options.patience_us;
    look_later(roll);
}

/* What has come in the same turn of the loop is still told: a failure stands,
 * whatever that is. */
static void end(struct roll *roll, enum err err)
{
    if (roll->err == ERR_OK)
        roll->err = err;
    loop_stop(roll->loop);
}

/* --- offers ----------------------------------------------------------------
 */

/* Messages as long as the columns make them; before they are known, small. */
static void trust(const struct roll *roll, const struct owner *owner)
{
    link_trust(owner->link, roll_codec_max(roll->dims) + LINK_STRANGER_BYTES);
}

static void on_offer(struct roll *roll, struct owner *owner, bool peer,
                     const struct roll_offer *offer)
{
    const char *problem = objection(roll, owner, offer);
    uint32_t parts;

    if (peer != roll->options.ring)
        problem = peer ? not_ring : not_star;
    if (problem == NULL && !owner_keep(owner, offer))
        problem = "the coordinator is out of memory";
    if (problem != NULL) {
        turn_away(roll, owner, problem);
        return;
    }
    progress(roll);
    if (roll->stage != STAGE_OFFERS) {
        trust(roll, owner);
        say_schema(roll, owner, false);
        return;
    }
    parts = owners_parts(roll->owners);
    if (parts > roll->options.count) {
        turn_away(roll, owner, too_many);
        return;
    }
    trust(roll, owner);
    log_note("%s has %u rows of %u columns; %u of %u files are here",
             owner->name, owner->rows, owner->cols, parts, roll->options.count);
    if (parts == roll->options.count)
        end(roll, ERR_OK);
}

/* --- sizes and sums --------------------------------------------------------
 */

static bool all_of(const struct roll *roll, const bool *in)
{
    for (uint32_t h = 0; h < roll->parts->count; h++) {
        if (!in[h])
            return false;
    }
    return true;
}

static void to_all_scales(struct roll *roll)
{
    for (const struct owner *at = roll->owners; at != NULL; at = at->next) {
        if (at->offered)
            say_scales(roll, at);
    }
}

static void on_sizes(struct roll *roll, struct owner *owner,
                     const struct roll_sizes *msg)
{
    const uint32_t home = parts_find(roll->parts, &owner->part);
    struct bounds_sizes sizes = {.dims = roll->dims,
                                 .label = msg->label,
                                 .norm = msg->norm,
                                 .weight = msg->weight};

    progress(roll);
    if (roll->stage == STAGE_SUMS) {
        say_scales(roll, owner);
        return;
    }
    if (roll->stage != STAGE_SIZES || roll->sized[home])
        return;
    sizes.x_max = mem_new(roll->dims, sizeof *sizes.x_max);
    if (sizes.x_max == NULL) {
        end(roll, ERR_NOMEM);
        return;
    }
    memcpy(sizes.x_max, msg->x_max, roll->dims * sizeof *sizes.x_max);
    bounds_sizes_join(&roll->sizes, &sizes);
    mem_free(sizes.x_max);
    roll->sized[home] = true;
    if (!all_of(roll, roll->sized))
        return;
    if (bounds_scales(&roll->sizes, roll->parts->rows, roll->scale) != ERR_OK) {
        end(roll, why_set(roll->why, ERR_RANGE,
                          "labels or values are too large to bound "
                          "anything"));
        return;
    }
    roll->stage = STAGE_SUMS;
    to_all_scales(roll);
}

/* False: it overflows, which no sum on these scales does. */
static bool add_sums(const struct roll *roll, const uint8_t *bytes)
{
    for (size_t j = 0; j < BOUNDS_SUMS * (size_t)roll->dims; j++) {
        int64_t value;

        memcpy(&value, bytes + j * sizeof value, sizeof value);
        if (value > INT64_MAX - roll->sum[j])
            return false;
        roll->sum[j] += value;
    }
    return true;
}

static void on_sums(struct roll *roll, struct owner *owner,
                    const struct roll_sums *msg)
{
    const uint32_t home = parts_find(roll->parts, &owner->part);

    if (roll->stage != STAGE_SUMS || roll->summed[home])
        return;
    progress(roll);
    if (!add_sums(roll, msg->sum)) {
        end(roll, why_set(roll->why, ERR_RANGE,
                          "%s: its rows are larger than it said", owner->name));
        return;
    }
    roll->summed[home] = true;
    if (all_of(roll, roll->summed))
        end(roll, ERR_OK);
}

/* --- the links -------------------------------------------------------------
 */

static void on_up(void *context, struct link *link)
{
    struct roll *roll = context;
    struct owner *owner = mem_new(1, sizeof *owner);

    if (owner == NULL || roll->stage == STAGE_OVER) {
        mem_free(owner);
        link_close(link);
        return;
    }
    owner->link = link;
    owner->next = roll->owners;
    roll->owners = owner;
    link_set_user(link, owner);
}

static bool in_order(const struct roll *roll, const struct owner *owner,
                     const struct roll_msg *msg)
{
    switch (msg->kind) {
    case ROLL_OFFER:
    case ROLL_PEER:
        return true;
    case ROLL_SIZES:
        return owner->offered && roll->stage != STAGE_OFFERS &&
               msg->sizes.dims == roll->dims;
    case ROLL_SUMS:
        return owner->offered && roll->stage != STAGE_OFFERS &&
               msg->sums.dims == roll->dims;
    case ROLL_SCHEMA:
    case ROLL_SCALES:
    case ROLL_NO:
    case ROLL_PARTS:
        break;
    }
    return false;
}

static void say_plainly(struct link *link, const struct msg *msg)
{
    uint8_t bytes[PLAIN_BYTES];

    CHECK(codec_bound(msg) <= sizeof bytes);
    link_send(link, PLANE_CONTROL, bytes, codec_encode(msg, bytes));
}

static void answer(struct roll *roll, struct owner *owner,
                   const struct msg_ask *ask)
{
    const bool stop = ask->what == ASK_STOP;
    const bool allowed = link_may_be(owner->link, TOKEN_CLUSTER);
    struct link *link = owner->link;
    struct msg msg = {.kind = MSG_STATUS};
    char text[PLAIN_BYTES / 2];

    msg.status.size = answer_write(
        stop ? answer_stop(allowed, 0)
        : ask->what == ASK_SIZE
            ? json_pack("{s:s}", "error",
                        "rows that stay with their owners are not sampled: "
                        "only code flexent has a size")
            : json_pack("{s:i, s:s, s:I, s:I, s:[]}", "step", 0, "phase",
                        "waiting for owners", "files",
                        (json_int_t)owners_parts(roll->owners), "wanted",
                        (json_int_t)roll->options.count, "workers"),
        text, sizeof text);
    msg.status.text = text;
    say_plainly(link, &msg);
    drop(roll, owner);
    link_close(link);
    if (stop && allowed)
        end(roll, why_set(roll->why, ERR_CANCELLED,
                          "stopped while it waited for owners; nothing was "
                          "begun"));
}

/* Somebody who knows nothing of private data. */
static void on_plain(struct roll *roll, struct owner *owner,
                     const uint8_t *data, size_t size)
{
    static const char reason[] = "the rows of this run stay with their owners; "
                                 "join with --data-private FILE";
    struct codec_room room = {0};
    struct link *link = owner->link;
    struct msg msg;
    struct msg no = {.kind = MSG_REJECT};

    if (codec_decode(data, size, &room, &msg) != ERR_OK) {
        turn_away(roll, owner, "it sent what is no message");
        return;
    }
    if (msg.kind == MSG_ASK) {
        answer(roll, owner, &msg.ask);
        return;
    }
    (void)snprintf(no.reject.reason, sizeof no.reject.reason, "%s", reason);
    note_refusal(roll, link, reason);
    say_plainly(link, &no);
    drop(roll, owner);
    link_close(link);
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct roll *roll = context;
    struct owner *owner = link_user(link);
    struct roll_msg msg;

    if (owner == NULL || roll->stage == STAGE_OVER)
        return;
    if (plane == PLANE_CONTROL && !roll_codec_is(data, size)) {
        on_plain(roll, owner, data, size);
        return;
    }
    if (plane != PLANE_CONTROL ||
        roll_codec_decode(data, size, &msg) != ERR_OK ||
        !in_order(roll, owner, &msg)) {
        turn_away(roll, owner, "it sent what is no message");
        return;
    }
    if (msg.kind == ROLL_OFFER || msg.kind == ROLL_PEER)
        on_offer(roll, owner, msg.kind == ROLL_PEER, &msg.offer);
    else if (msg.kind == ROLL_SIZES)
        on_sizes(roll, owner, &msg.sizes);
    else
        on_sums(roll, owner, &msg.sums);
}

static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct owner *owner = link_user(link);

    (void)how;
    (void)why;
    if (owner != NULL)
        drop(context, owner);
}

static void on_refused(void *context, const char *why)
{
    struct roll *roll = context;

    reject_log_add(&roll->rejects, clock_now_us(), why);
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down, .refused = on_refused};

static void on_time(void *context)
{
    struct roll *roll = context;
    const time_us now = clock_now_us();
    const uint32_t here = owners_parts(roll->owners),
                   wanted = roll->options.count;

    if (roll->options.failed != NULL && flag_raised(roll->options.failed))
        end(roll, why_set(roll->why, ERR_CLOSED,
                          "the rows of this machine will not come"));
    else if (now >= roll->options.until)
        end(roll, why_set(roll->why, ERR_TIMEOUT,
                          "the time is up (--max-time), with %u of %u private "
                          "files here; nothing was begun",
                          here, wanted));
    else if (now >= roll->fails_at)
        end(roll,
            why_set(roll->why, ERR_TIMEOUT,
                    "%u of %u private files are here, and nobody came or "
                    "answered for %.0f s",
                    here, wanted,
                    (double)roll->options.patience_us / (double)SECOND_US));
    else {
        log_note("waiting: %u of %u private files are here; %.0f s more for "
                 "the next",
                 here, wanted,
                 (double)(roll->fails_at - now) / (double)SECOND_US);
        look_later(roll);
    }
}

/* --- from outside ----------------------------------------------------------
 */

static enum err serve(struct roll *roll, struct why *why)
{
    roll->err = ERR_OK;
    roll->why = why;
    progress(roll);
    loop_run(roll->loop);
    return roll->err;
}

enum err roll_new(const struct roll_options *options, struct roll **roll,
                  struct why *why)
{
    struct roll *made = mem_new(1, sizeof *made);
    struct link_options links = {
        .token = options->token, .events = &link_events, .context = made};
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = *options;
    err = loop_new(&made->loop);
    links.loop = made->loop;
    if (err == ERR_OK)
        err = timer_new(made->loop, on_time, made, &made->timer);
    if (err == ERR_OK)
        err = farewell_open(&made->farewell, made->loop);
    if (err == ERR_OK)
        err = link_hub_new(&links, &made->hub);
    if (err == ERR_OK)
        err = link_hub_listen(made->hub, options->listen_fd);
    if (err != ERR_OK) {
        roll_free(made);
        return why_set(why, err,
                       "cannot wait for the owners of private data: "
                       "%s",
                       err_text(err));
    }
    *roll = made;
    return ERR_OK;
}

void roll_free(struct roll *roll)
{
    if (roll == NULL)
        return;
    while (roll->owners != NULL)
        drop(roll, roll->owners);
    link_hub_free(roll->hub);
    timer_free(roll->timer);
    farewell_close(&roll->farewell);
    loop_free(roll->loop);
    reject_log_end(&roll->rejects);
    bounds_sizes_close(&roll->sizes);
    mem_free(roll->sized);
    mem_free(roll->summed);
    mem_free(roll->scale);
    mem_free(roll->sum);
    mem_free(roll);
}

enum err roll_gather(struct roll *roll, struct parts *parts, struct why *why)
{
    struct parts made = {0};
    enum err err;

    /* Somebody may be gone again in the turn in which the last one came. */
    do
        err = serve(roll, why);
    while (err == ERR_OK && owners_parts(roll->owners) < roll->options.count);
    if (err == ERR_OK)
        err = owners_unite(roll->owners, roll->options.count, &made);
    if (err == ERR_TOOBIG)
        (void)why_set(why, err, "more than %u rows in all", DATA_ROWS_MAX);
    if (err != ERR_OK) {
        parts_close(&made);
        return err;
    }
    *parts = made;
    return ERR_OK;
}

static enum err make_vectors(struct roll *roll)
{
    const uint32_t homes = roll->parts->count;
    const size_t count = BOUNDS_SUMS * (size_t)roll->dims;
    const enum err err = bounds_sizes_init(&roll->sizes, roll->dims);

    roll->sized = mem_new(homes, sizeof *roll->sized);
    roll->summed = mem_new(homes, sizeof *roll->summed);
    roll->scale = mem_new(count, sizeof *roll->scale);
    roll->sum = mem_new(count, sizeof *roll->sum);
    if (err != ERR_OK || roll->sized == NULL || roll->summed == NULL ||
        roll->scale == NULL || roll->sum == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

void roll_describe(struct roll *roll, struct parts *parts)
{
    CHECK(parts->chunk_rows > 0 && roll->stage == STAGE_OFFERS);
    roll->parts = parts;
}

enum err roll_measure(struct roll *roll, struct parts *parts, struct why *why)
{
    enum err err;

    roll_describe(roll, parts);
    roll->dims = (parts->cols + KERNEL_LANES - 1) / KERNEL_LANES * KERNEL_LANES;
    err = make_vectors(roll);
    if (err == ERR_OK)
        err = bounds_init(&parts->bounds, roll->dims);
    if (err != ERR_OK)
        return err;
    roll->stage = STAGE_SIZES;
    for (const struct owner *at = roll->owners; at != NULL; at = at->next) {
        if (!at->offered)
            continue;
        trust(roll, at);
        say_schema(roll, at, false);
    }
    err = serve(roll, why);
    if (err == ERR_OK)
        bounds_settle(&parts->bounds, &roll->sizes, roll->scale, roll->sum);
    return err;
}

/* Last words, and time to send them. */
static void part(struct roll *roll)
{
    roll->stage = STAGE_OVER;
    link_hub_stop_listening(roll->hub);
    while (roll->owners != NULL) {
        struct link *link = roll->owners->link;

        drop(roll, roll->owners);
        link_close(link);
    }
    timer_at(roll->timer, TIME_NEVER);
    farewell_begin(&roll->farewell, roll->hub, NULL, PART_US);
    loop_run(roll->loop);
}

void roll_refuse(struct roll *roll, const char *reason)
{
    for (const struct owner *at = roll->owners; at != NULL; at = at->next) {
        if (at->offered)
            say_no(at->link, reason);
    }
    part(roll);
}

static void say_parts(const struct owner *owner, const uint8_t *bytes,
                      size_t size)
{
    const struct roll_msg msg = {
        .kind = ROLL_PARTS, .parts = {.size = (uint32_t)size, .bytes = bytes}};

    say(owner->link, &msg);
}

enum err roll_dismiss(struct roll *roll)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    const enum err err =
        roll->options.ring ? parts_encode(roll->parts, &bytes, &size) : ERR_OK;

    if (err != ERR_OK)
        return err;
    for (const struct owner *at = roll->owners; at != NULL; at = at->next) {
        if (!at->offered)
            continue;
        say_schema(roll, at, true);
        if (roll->options.ring)
            say_parts(at, bytes, size);
    }
    mem_free(bytes);
    part(roll);
    return ERR_OK;
}
