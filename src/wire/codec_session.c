/*
 * codec_session.c - messages about who is there and how it goes.
 */
#include "core/link/offset.h"
#include "math/blocks.h"
#include "math/computation.h"
#include "wire/codec_parts.h"

void put_hello(struct writer *out, const struct msg_hello *hello)
{
    put_u32(out, hello->version);
    put_text(out, hello->name);
    put_u64(out, hello->incarnation);
    put_u32(out, hello->pid);
    put_digest(out, &hello->arithmetic);
    put_bool(out, hello->resident);
    put_digest(out, &hello->data);
    put_u64(out, hello->job);
    put_u64(out, hello->view_seen);
    put_bool(out, hello->keeps);
    put_bool(out, hello->alone);
    put_bool(out, hello->owns);
    put_digest(out, &hello->part);
}

void get_hello(struct reader *in, struct msg_hello *hello)
{
    if (!get_version(in, &hello->version))
        return;
    get_text(in, hello->name, sizeof hello->name);
    must(in, codec_name_valid(hello->name));
    hello->incarnation = get_u64(in);
    hello->pid = get_u32(in);
    get_digest(in, &hello->arithmetic);
    hello->resident = get_bool(in);
    get_digest(in, &hello->data);
    hello->job = get_u64(in);
    hello->view_seen = get_u64(in);
    hello->keeps = get_bool(in);
    hello->alone = get_bool(in);
    hello->owns = get_bool(in);
    get_digest(in, &hello->part);
}

static void put_brief(struct writer *out, const struct brief *brief)
{
    put_u16(out, (uint16_t)brief->size);
    put_bytes(out, brief->bytes, brief->size);
}

/* Whether it makes sense is for the evaluator to say. */
static void get_brief(struct reader *in, struct brief *brief)
{
    brief->size = get_u16(in);
    must(in, brief->size <= BRIEF_MAX);
    brief->bytes = get_view(in, brief->size);
}

void put_job(struct writer *out, const struct job *job)
{
    put_u64(out, job->id);
    put_u32(out, job->rows);
    put_u32(out, job->chunk_rows);
    put_u32(out, job->dims);
    put_u32(out, job->sum_dims);
    put_u32(out, job->chunks);
    put_u32(out, job->scattered);
    put_u32(out, job->sampled);
    put_u64(out, job->shard_max);
    put_digest(out, &job->data);
    put_i64(out, job->beat_us);
    put_i64(out, job->dead_us);
    put_i64(out, job->pulse_us);
    put_bool(out, job->stints);
    put_bool(out, job->keyed);
    put_bool(out, job->owned);
    put_bool(out, job->products);
    put_u32(out, job->coded_cols);
    put_u32(out, job->copies);
    put_brief(out, &job->brief);
}

void get_job(struct reader *in, struct job *job)
{
    job->id = get_u64(in);
    job->rows = get_u32(in);
    job->chunk_rows = get_u32(in);
    job->dims = get_u32(in);
    job->sum_dims = get_u32(in);
    job->chunks = get_u32(in);
    job->scattered = get_u32(in);
    job->sampled = get_u32(in);
    job->shard_max = get_u64(in);
    get_digest(in, &job->data);
    job->beat_us = get_i64(in);
    job->dead_us = get_i64(in);
    job->pulse_us = get_i64(in);
    job->stints = get_bool(in);
    job->keyed = get_bool(in);
    job->owned = get_bool(in);
    job->products = get_bool(in);
    job->coded_cols = get_u32(in);
    job->copies = get_u32(in);
    get_brief(in, &job->brief);
    must(in, job->dims > 0 && job->dims <= DIMS_MAX);
    must(in, job->sum_dims >= job->dims && job->sum_dims <= SUM_DIMS_MAX);
    must(in, job->chunks > 0 && job->chunks <= CHUNKS_MAX);
    must(in, job->sampled == 0 || job->chunks == 2 * job->sampled);
    must(in, job->copies <= BLOCK_COPIES_MAX);
    must(in, job->products == (job->copies > 0));
    must(in, job_shards(job) <= CHUNKS_MAX);
    must(in, job->shard_max <= SHARD_MAX);
    must(in, job->beat_us >= 0 && job->dead_us > 0);
    must(in, job->pulse_us >= 0 && job->pulse_us <= OFFSET_CLOCK_MAX);
}

void put_beat(struct writer *out, const struct msg_beat *beat)
{
    put_u64(out, beat->sequence);
    put_i64(out, beat->sent_us);
    put_u64(out, beat->view);
    put_u32(out, beat->step);
    put_u32(out, beat->attempt);
    put_u64(out, beat->assignment);
    put_u32(out, beat->queued);
    put_u64(out, beat->chunks_done);
}

void get_beat(struct reader *in, struct msg_beat *beat)
{
    beat->sequence = get_u64(in);
    beat->sent_us = get_i64(in);
    beat->view = get_u64(in);
    beat->step = get_u32(in);
    beat->attempt = get_u32(in);
    beat->assignment = get_u64(in);
    beat->queued = get_u32(in);
    beat->chunks_done = get_u64(in);
}

void put_relay(struct writer *out, const struct msg_relay *relay)
{
    put_u32(out, relay->version);
    put_text(out, relay->name);
}

void get_relay(struct reader *in, struct msg_relay *relay)
{
    if (!get_version(in, &relay->version))
        return;
    get_text(in, relay->name, sizeof relay->name);
    must(in, codec_name_valid(relay->name));
}

void get_ask(struct reader *in, struct msg_ask *ask)
{
    uint8_t what;

    ask->version = get_u32(in);
    what = get_u8(in);
    must(in, what >= ASK_STATUS && what <= ASK_SIZE);
    ask->what = in->ok ? (enum ask_what)what : ASK_STATUS;
    ask->size = what == ASK_SIZE ? get_f64(in) : 0;
    must(in, what != ASK_SIZE || computation_samples(ask->size));
}

void get_status(struct reader *in, struct msg_status *status)
{
    status->size = in->size - in->at;
    must(in, status->size <= STATUS_SIZE);
    status->text = (const char *)get_view(in, status->size);
}

static void put_vitals(struct writer *out, const struct vitals *vitals)
{
    put_i64(out, vitals->compute_us);
    put_i64(out, vitals->cancelled_us);
    put_i64(out, vitals->held_us);
    put_i64(out, vitals->waited_us);
    put_u64(out, vitals->chunks);
    put_u32(out, vitals->cancels);
    put_i64(out, vitals->cpu_us);
    put_i64(out, vitals->starved_us);
    put_i64(out, vitals->loop_us);
    put_i64(out, vitals->stopped_us);
    put_i64(out, vitals->unsent_us);
    put_u64(out, vitals->unsent_bytes);
    put_u64(out, vitals->faults);
}

static void get_vitals(struct reader *in, struct vitals *vitals)
{
    vitals->compute_us = get_time(in);
    vitals->cancelled_us = get_time(in);
    vitals->held_us = get_time(in);
    vitals->waited_us = get_time(in);
    vitals->chunks = get_u64(in);
    vitals->cancels = get_u32(in);
    vitals->cpu_us = get_time(in);
    vitals->starved_us = get_time(in);
    vitals->loop_us = get_time(in);
    vitals->stopped_us = get_time(in);
    vitals->unsent_us = get_time(in);
    vitals->unsent_bytes = get_u64(in);
    vitals->faults = get_u64(in);
}

void put_pulse(struct writer *out, const struct msg_pulse *pulse)
{
    put_i64(out, pulse->ahead_us);
    put_i64(out, pulse->error_us);
    put_i64(out, pulse->trip_us);
    put_bool(out, pulse->full);
    put_vitals(out, &pulse->vitals);
    put_u32(out, pulse->count);
    for (uint32_t i = 0; i < pulse->count; i++) {
        const struct stint *stint = &pulse->stints[i];

        put_u8(out, (uint8_t)stint->kind);
        put_u32(out, stint->step);
        put_u32(out, stint->piece);
        put_i64(out, stint->began);
        put_i64(out, stint->took_us);
        put_i64(out, stint->stop_us);
    }
}

static void get_stint(struct reader *in, struct stint *stint)
{
    const uint8_t kind = get_u8(in);

    must(in, kind < STINT_KINDS);
    stint->kind = (enum stint_kind)(kind < STINT_KINDS ? kind : 0);
    stint->step = get_u32(in);
    stint->piece = get_u32(in);
    stint->began = get_time(in);
    stint->took_us = get_time(in);
    stint->stop_us = get_time(in);
}

void get_pulse(struct reader *in, const struct codec_room *room,
               struct msg_pulse *pulse)
{
    pulse->ahead_us = get_i64(in);
    must(in, pulse->ahead_us >= -OFFSET_CLOCK_MAX &&
                 pulse->ahead_us <= OFFSET_CLOCK_MAX);
    pulse->error_us = get_i64(in);
    must(in, pulse->error_us >= OFFSET_UNKNOWN &&
                 pulse->error_us <= OFFSET_CLOCK_MAX);
    pulse->trip_us = get_time(in);
    pulse->full = get_bool(in);
    get_vitals(in, &pulse->vitals);
    pulse->count = get_u32(in);
    must(in, pulse->count <= STINTS_MAX &&
                 (pulse->count == 0 || room->stints != NULL));
    for (uint32_t i = 0; in->ok && i < pulse->count; i++)
        get_stint(in, &room->stints[i]);
    pulse->stints = room->stints;
}

void put_watch(struct writer *out, const struct msg_watch *watch)
{
    put_u64(out, watch->sequence);
    put_i64(out, watch->sent_us);
    put_bool(out, watch->whole);
    put_u32(out, watch->count);
    for (uint32_t i = 0; i < watch->count; i++) {
        put_u32(out, watch->silent[i].leaf);
        put_i64(out, watch->silent[i].silence_us);
    }
}

void get_watch(struct reader *in, const struct codec_room *room,
               struct msg_watch *watch)
{
    watch->sequence = get_u64(in);
    watch->sent_us = get_i64(in);
    watch->whole = get_bool(in);
    watch->count = get_u32(in);
    must(in, watch->count <= SILENT_MAX &&
                 (watch->count == 0 || room->silent != NULL));
    for (uint32_t i = 0; in->ok && i < watch->count; i++) {
        room->silent[i].leaf = get_u32(in);
        room->silent[i].silence_us = get_time(in);
    }
    watch->silent = room->silent;
}
