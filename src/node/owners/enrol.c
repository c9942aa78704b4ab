/*
 * enrol.c - an owner's side of the roll call for private data, as callbacks of
 * a loop: offer, schema, sizes, sums.  Only labels, counts, sizes and sums
 * leave this process; rows do not.
 */
#include "node/owners/enrol.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/rows/rounding.h"
#include "data/span.h"
#include "data/table/encode.h"
#include "model/linear/bounds.h"
#include "model/linear/problem.h"
#include "node/arithmetic.h"
#include "node/host/ways.h"
#include "os/clock.h"
#include "os/log.h"
#include "os/net/link.h"
#include "os/run/loop.h"
#include "os/run/threads.h"
#include "wire/roll_codec.h"

static_assert(ROLL_SUMS_EACH == BOUNDS_SUMS, "what is sent is what is summed");

#define RETRY_US (200 * MS_US)

struct enrol {
    const struct enrol_options *options;
    struct loop *loop;
    struct timer *timer; /* To dial again. */
    struct timer *watch; /* Looks at options->stop. */
    struct link_hub *hub;
    struct link *link;
    uint32_t way;
    time_us heard_at; /* The coordinator was last there. */
    struct pool *pool;

    struct digest part, columns;
    uint32_t rows, cols;
    struct image image;
    struct image_sizes image_sizes;
    uint32_t label_count;
    double labels[ROLL_LABELS_MAX];

    bool placed; /* `owned` is as the last SCHEMA said. */
    struct owned owned;
    struct parts parts; /* A ring: of all. */
    enum model_kind model;
    struct bounds_sizes sizes;

    bool over;
    enum err err;
    struct why *why;
};

void owned_close(struct owned *owned)
{
    dataset_close(&owned->data);
    *owned = (struct owned){0};
}

static void end(struct enrol *enrol, enum err err)
{
    enrol->over = true;
    enrol->err = err;
    loop_stop(enrol->loop);
}

static void fail(struct enrol *enrol, enum err err, const char *reason)
{
    end(enrol, why_set(enrol->why, err, "%s", reason));
}

/* --- the rows --------------------------------------------------------------
 */

/* Names do not travel, but owners whose columns are others must not be added
 * up: each name with its NUL, the label's last.  Of indices that start at 0
 * the word is `0`; those that start at 1 are places. */
static struct digest digest_columns(const struct encoder *encoder)
{
    const struct schema *const schema = &encoder->schema;
    struct hasher hasher;

    if (schema->name == NULL && !encoder->from_zero)
        return (struct digest){0};
    hasher_init(&hasher);
    if (encoder->from_zero) {
        hasher_add(&hasher, "0", 2);
        return hasher_end(&hasher);
    }
    for (uint32_t j = 0; j < schema->features; j++)
        hasher_add(&hasher, schema->name[j], strlen(schema->name[j]) + 1);
    hasher_add(&hasher, schema->label_name, strlen(schema->label_name) + 1);
    return hasher_end(&hasher);
}

/* Each owner would number its own words. */
static enum err take_columns(struct enrol *enrol, const struct encoder *encoder)
{
    if (encoder->kind == ENCODER_TABLE && !encoder_is_plain(encoder))
        return why_set(enrol->why, ERR_UNSUPPORTED,
                       "%s: columns of words cannot be private: categories of "
                       "all owners would have to be known; write numbers, or "
                       "leave them out with --drop",
                       enrol->options->rows.spec);
    enrol->columns = digest_columns(encoder);
    return ERR_OK;
}

static void note(void *context, const char *sentence)
{
    (void)context;
    log_note("%s", sentence);
}

/* Nobody else can see it, and its owner has no other storage to choose. */
static enum err note_rounding(const struct enrol *enrol,
                              const struct encoder *encoder,
                              const struct dataset *data)
{
    struct rounding rounding = {0};
    char name[64], loss[ROUNDING_TEXT];

    if (data->rounded > 0 &&
        rounding_find(data, data->cols, &rounding) != ERR_OK)
        return why_set(enrol->why, ERR_NOMEM,
                       "%s: not enough memory to look at its columns",
                       enrol->options->rows.spec);
    if (rounding.columns == 0)
        return ERR_OK;
    encoder_name(encoder, rounding.worst, name, sizeof name);
    rounding_text(&rounding, false, loss);
    log_note("%s: column \"%s\"%s: %s, and private rows have no other storage; "
             "subtract one and the same number from it in all owners' files",
             enrol->options->rows.spec, quote_text(name).text,
             rounding.columns > 1 ? " and others" : "", loss);
    return ERR_OK;
}

/* As they are: labels as read, no more columns than the file has. */
static enum err look(struct enrol *enrol)
{
    struct encoder encoder = {0};
    struct source_options rows = enrol->options->rows;
    struct dataset data = {0};
    enum err err;

    rows.pool = enrol->pool;
    rows.shares = true;
    rows.storage = "f32";
    rows.regression = true;
    rows.encoder = &encoder;
    rows.note = note; /* Once: not when they are read again. */
    err = source_load(&rows, &data, NULL, NULL, enrol->why);
    if (err == ERR_OK)
        err = take_columns(enrol, &encoder);
    if (err == ERR_OK)
        err = note_rounding(enrol, &encoder, &data);
    if (err == ERR_OK)
        err = image_sizes(&data, &enrol->image_sizes);
    encoder_close(&encoder);
    if (err != ERR_OK) {
        dataset_close(&data);
        return err;
    }
    enrol->part = dataset_digest(&data);
    enrol->rows = data.rows;
    enrol->cols = data.cols;
    enrol->image = data.image;
    enrol->label_count = data.classes;
    if (data.classes > 0)
        memcpy(enrol->labels, data.label, data.classes * sizeof *data.label);
    dataset_close(&data);
    return ERR_OK;
}

/* Is it possible at all, with these rows? */
static bool schema_fits(const struct enrol *enrol,
                        const struct roll_schema *schema)
{
    const uint32_t own = schema->end - schema->first;
    const uint32_t cols = enrol->cols + (schema->intercept ? 1 : 0);
    const uint32_t whole = enrol->rows / schema->chunk_rows;

    return schema->cols >= cols && schema->rows >= enrol->rows &&
           schema->first_row <= schema->rows - enrol->rows &&
           own == whole + (enrol->rows % schema->chunk_rows != 0) &&
           (model_has_outputs(schema->model, 1) ||
            model_has_outputs(schema->model, schema->label_count));
}

/* As the job wants them. */
static enum err place(struct enrol *enrol, const struct roll_schema *schema)
{
    struct source_options rows = enrol->options->rows;
    struct dataset like = {0};
    double labels[ROLL_LABELS_MAX];
    enum err err;

    enrol->model = (enum model_kind)schema->model;
    if (schema->label_count > 0)
        memcpy(labels, schema->labels, schema->label_count * sizeof *labels);
    err = dataset_init_hollow(&like, &schema->rows, 1, schema->cols,
                              schema->chunk_rows);
    if (err == ERR_OK)
        err = dataset_set_labels(&like, labels, schema->label_count);
    rows.pool = enrol->pool;
    rows.shares = true;
    rows.like = &like;
    rows.chunk_rows = schema->chunk_rows;
    rows.intercept = schema->intercept;
    rows.regression = model_ops(enrol->model)->regression;
    rows.classes = model_ops(enrol->model)->classes;
    dataset_close(&enrol->owned.data);
    if (err == ERR_OK)
        err = source_load(&rows, &enrol->owned.data, NULL, NULL, enrol->why);
    dataset_close(&like);
    if (err == ERR_OK && enrol->owned.data.rows != enrol->rows)
        err = why_set(enrol->why, ERR_MISMATCH,
                      "%s: it has changed while it was read", rows.spec);
    if (err != ERR_OK)
        return err;
    enrol->owned.part = enrol->part;
    enrol->owned.job = schema->data;
    enrol->owned.first = schema->first;
    enrol->owned.end = schema->end;
    enrol->owned.chunks = schema->chunks;
    enrol->owned.first_row = schema->first_row;
    enrol->placed = true;
    return ERR_OK;
}

static struct problem problem_here(const struct enrol *enrol)
{
    return problem_of(&enrol->owned.data, enrol->model, enrol->options->isa);
}

/* --- messages --------------------------------------------------------------
 */

static void say(struct enrol *enrol, const struct roll_msg *msg)
{
    uint8_t *bytes = mem_new(roll_codec_bound(msg), 1);

    if (bytes == NULL) {
        fail(enrol, ERR_NOMEM, "out of memory");
        return;
    }
    link_send(enrol->link, PLANE_CONTROL, bytes, roll_codec_encode(msg, bytes));
    mem_free(bytes);
}

static void say_offer(struct enrol *enrol)
{
    struct roll_msg msg = {.kind =
                               enrol->options->ring ? ROLL_PEER : ROLL_OFFER,
                           .offer = {.version = MSG_VERSION,
                                     .arithmetic = arithmetic_digest(),
                                     .part = enrol->part,
                                     .columns = enrol->columns,
                                     .rows = enrol->rows,
                                     .cols = enrol->cols,
                                     .height = enrol->image.height,
                                     .width = enrol->image.width,
                                     .channels = enrol->image.channels,
                                     .least = enrol->image_sizes.least,
                                     .most = enrol->image_sizes.most,
                                     .whole = enrol->image_sizes.whole,
                                     .label_count = enrol->label_count,
                                     .labels = (const uint8_t *)enrol->labels}};

    memcpy(msg.offer.name, enrol->options->name, NAME_SIZE);
    say(enrol, &msg);
}

static void say_sizes(struct enrol *enrol)
{
    const struct problem problem = problem_here(enrol);
    struct bounds_sizes *sizes = &enrol->sizes;
    struct roll_msg msg = {.kind = ROLL_SIZES};
    enum err err;

    bounds_sizes_close(sizes);
    err = bounds_sizes_init(sizes, enrol->owned.data.stride);
    if (err == ERR_OK)
        err = bounds_sizes_measure(sizes, &problem, enrol->pool);
    if (err != ERR_OK) {
        fail(enrol, err, err_text(err));
        return;
    }
    msg.sizes = (struct roll_sizes){.label = sizes->label,
                                    .norm = sizes->norm,
                                    .weight = sizes->weight,
                                    .dims = sizes->dims,
                                    .x_max = (uint8_t *)sizes->x_max};
    say(enrol, &msg);
}

static void on_schema(struct enrol *enrol, const struct roll_schema *schema)
{
    const bool same =
        enrol->placed && digest_equal(&enrol->owned.job, &schema->data);
    enum err err = ERR_OK;

    if (!schema_fits(enrol, schema)) {
        fail(enrol, ERR_SHAPE,
             "the coordinator describes a job that cannot be");
        return;
    }
    if (!same)
        err = place(enrol, schema);
    if (err != ERR_OK) {
        end(enrol, err);
        return;
    }
    link_trust(enrol->link,
               roll_codec_max(enrol->owned.data.stride) + LINK_STRANGER_BYTES);
    if (!schema->known)
        say_sizes(enrol);
    else if (!enrol->options->ring)
        end(enrol, ERR_OK);
}

/* The known SCHEMA came before. */
static void on_parts(struct enrol *enrol, const struct roll_parts *msg)
{
    struct parts made = {0};
    const enum err err = parts_decode(msg->bytes, msg->size, &made);
    const struct owned *owned = &enrol->owned;
    struct digest job;
    uint32_t home;

    if (err != ERR_OK) {
        fail(enrol, err, "the ring describes a training that cannot be");
        return;
    }
    job = parts_digest(&made);
    home = parts_find(&made, &enrol->part);
    if (home == made.count || !digest_equal(&job, &owned->job) ||
        made.homes[home].rows != enrol->rows ||
        made.homes[home].first != owned->first ||
        made.homes[home].end != owned->end || made.chunks != owned->chunks) {
        parts_close(&made);
        fail(enrol, ERR_SHAPE, "the ring describes a training that cannot be");
        return;
    }
    parts_close(&enrol->parts);
    enrol->parts = made;
    end(enrol, ERR_OK);
}

/* All rows together are no smaller than ours, so their scales are no finer;
 * finer ones would overflow here. */
static bool scales_fit(const struct enrol *enrol, const int16_t *scale)
{
    const size_t dims = enrol->sizes.dims;
    int16_t *own = mem_new(BOUNDS_SUMS * dims, sizeof *own);
    bool fit =
        own != NULL && bounds_scales(&enrol->sizes, enrol->rows, own) == ERR_OK;

    /* What is zero here is so on any scale: a column, or U of all labels. */
    for (size_t j = 0; fit && j < BOUNDS_SUMS * dims; j++)
        fit = enrol->sizes.x_max[j % dims] == 0 ||
              (j < dims && enrol->sizes.label == 0) || scale[j] <= own[j];
    mem_free(own);
    return fit;
}

static void say_sums(struct enrol *enrol, const int16_t *scale)
{
    const struct problem problem = problem_here(enrol);
    const uint32_t dims = enrol->sizes.dims;
    int64_t *sums = mem_new(BOUNDS_SUMS * (size_t)dims, sizeof *sums);
    const struct roll_msg msg = {
        .kind = ROLL_SUMS, .sums = {.dims = dims, .sum = (uint8_t *)sums}};

    if (sums == NULL ||
        bounds_sums(&problem, scale, enrol->pool, sums) != ERR_OK)
        fail(enrol, ERR_NOMEM, "out of memory");
    else
        say(enrol, &msg);
    mem_free(sums);
}

static void on_scales(struct enrol *enrol, const struct roll_scales *msg)
{
    const uint32_t dims = enrol->sizes.dims;
    const size_t count = BOUNDS_SUMS * (size_t)dims;
    int16_t *scales = mem_new(count, sizeof *scales);

    if (scales == NULL || msg->dims != dims) {
        fail(enrol, ERR_FORMAT, "the coordinator sent what is no message");
        mem_free(scales);
        return;
    }
    memcpy(scales, msg->scale, count * sizeof *scales);
    if (scales_fit(enrol, scales))
        say_sums(enrol, scales);
    else
        fail(enrol, ERR_SHAPE,
             "the coordinator describes a job that cannot be");
    mem_free(scales);
}

/* --- the link --------------------------------------------------------------
 */

static void dial(void *context)
{
    struct enrol *enrol = context;
    const struct enrol_options *options = enrol->options;

    if (options->give_up_us != TIME_NEVER &&
        clock_now_us() - enrol->heard_at >= options->give_up_us)
        fail(enrol, ERR_TIMEOUT, "the coordinator cannot be reached");
    else if (link_dial(enrol->hub, &options->addresses[enrol->way],
                       &enrol->link) != ERR_OK)
        fail(enrol, ERR_NOMEM, "out of memory");
}

static void on_up(void *context, struct link *link)
{
    struct enrol *enrol = context;

    CHECK(link == enrol->link);
    enrol->heard_at = clock_now_us();
    link_trust(link, roll_codec_max(0) + LINK_STRANGER_BYTES);
    say_offer(enrol);
}

static void on_message(void *context, struct link *link, enum plane plane,
                       const uint8_t *data, size_t size)
{
    struct enrol *enrol = context;
    struct roll_msg msg;

    (void)link;
    if (enrol->over)
        return;
    enrol->heard_at = clock_now_us();
    if (plane != PLANE_CONTROL || roll_codec_decode(data, size, &msg) != ERR_OK)
        msg.kind = ROLL_OFFER; /* Nothing that is said to an owner. */
    if (msg.kind == ROLL_SCHEMA)
        on_schema(enrol, &msg.schema);
    else if (msg.kind == ROLL_SCALES && enrol->sizes.dims > 0)
        on_scales(enrol, &msg.scales);
    else if (msg.kind == ROLL_PARTS && enrol->options->ring && enrol->placed)
        on_parts(enrol, &msg.parts);
    else if (msg.kind == ROLL_NO)
        fail(enrol, ERR_DENIED, msg.no.reason);
    else
        fail(enrol, ERR_FORMAT, "the coordinator sent what is no message");
}

/* Between roll and run nobody listens for a moment. */
static void on_down(void *context, struct link *link, enum link_end how,
                    const char *why)
{
    struct enrol *enrol = context;

    (void)link;
    enrol->link = NULL;
    if (enrol->over)
        return;
    if (how == LINK_REFUSED) {
        fail(enrol, ERR_DENIED, why);
        return;
    }
    if (ways_over(enrol->options->folder)) {
        fail(enrol, ERR_CLOSED, WAYS_OVER);
        return;
    }
    enrol->way = (enrol->way + 1) % enrol->options->address_count;
    timer_at(enrol->timer, clock_now_us() + RETRY_US);
}

static const struct link_events link_events = {
    .up = on_up, .message = on_message, .down = on_down};

static void look_up(void *context)
{
    struct enrol *enrol = context;

    if (flag_raised(enrol->options->stop))
        fail(enrol, ERR_CANCELLED, "the roll is over");
    else
        timer_at(enrol->watch, clock_now_us() + RETRY_US);
}

static enum err serve(struct enrol *enrol)
{
    struct link_options links = {.token = enrol->options->token,
                                 .source = enrol->options->source,
                                 .events = &link_events,
                                 .context = enrol};
    enum err err = loop_new(&enrol->loop);

    links.loop = enrol->loop;
    if (err == ERR_OK)
        err = timer_new(enrol->loop, dial, enrol, &enrol->timer);
    if (err == ERR_OK)
        err = timer_new(enrol->loop, look_up, enrol, &enrol->watch);
    if (err == ERR_OK)
        err = link_hub_new(&links, &enrol->hub);
    if (err == ERR_OK) {
        enrol->heard_at = clock_now_us();
        if (enrol->options->stop != NULL)
            timer_at(enrol->watch, clock_now_us() + RETRY_US);
        dial(enrol);
        if (!enrol->over)
            loop_run(enrol->loop);
        err = enrol->err;
    }
    link_hub_free(enrol->hub);
    timer_free(enrol->timer);
    timer_free(enrol->watch);
    loop_free(enrol->loop);
    return err;
}

enum err enrol_new(const struct enrol_options *options, struct enrol **enrol,
                   struct why *why)
{
    struct enrol *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->options = options;
    made->why = why;
    err = arithmetic_check(options->isa, why);
    if (err == ERR_OK)
        err = threads_new(options->threads, &made->pool);
    if (err == ERR_OK)
        err = look(made);
    if (err == ERR_OK)
        *enrol = made;
    else
        enrol_free(made);
    return err;
}

void enrol_free(struct enrol *enrol)
{
    if (enrol == NULL)
        return;
    threads_free(enrol->pool);
    bounds_sizes_close(&enrol->sizes);
    owned_close(&enrol->owned);
    parts_close(&enrol->parts);
    mem_free(enrol);
}

static void hand_over(struct enrol *enrol, struct owned *owned)
{
    *owned = enrol->owned;
    enrol->owned = (struct owned){0};
}

enum err enrol_serve(struct enrol *enrol, struct owned *owned,
                     struct parts *parts, struct why *why)
{
    enum err err;

    CHECK(enrol->options->ring == (parts != NULL));
    enrol->why = why;
    err = serve(enrol);
    if (err != ERR_OK)
        return err;
    hand_over(enrol, owned);
    if (parts != NULL)
        *parts = enrol->parts;
    enrol->parts = (struct parts){0};
    return ERR_OK;
}

enum err enrol_place(struct enrol *enrol, const struct parts *parts,
                     struct owned *owned, struct why *why)
{
    const uint32_t home = parts_find(parts, &enrol->part);
    struct roll_schema schema;
    enum err err;

    enrol->why = why;
    if (home == parts->count)
        return why_set(why, ERR_MISMATCH,
                       "%s: these rows are none of this run's; they are others "
                       "than it began with, or are read in another way",
                       enrol->options->rows.spec);
    schema = parts_schema(parts, home, true);
    if (!schema_fits(enrol, &schema))
        return why_set(why, ERR_SHAPE,
                       "the run describes a training that cannot be");
    err = place(enrol, &schema);
    if (err == ERR_OK)
        hand_over(enrol, owned);
    return err;
}

enum err enrol_run(const struct enrol_options *options, struct owned *owned,
                   struct why *why)
{
    struct enrol *enrol = NULL;
    enum err err = enrol_new(options, &enrol, why);

    if (err == ERR_OK)
        err = enrol_serve(enrol, owned, NULL, why);
    enrol_free(enrol);
    return err;
}
