/*
 * worker_link.c - a worker and its coordinator: dialling, greetings, the job
 * that it learns from them, beats, silence, and the goodbye.
 */
#include <string.h>

#include "base/mem.h"
#include "core/link/greeting.h"
#include "core/worker/worker_parts.h"

#define LEAVE_RESEND_US (200 * MS_US)
#define LEAVE_WAIT_US   (2 * SECOND_US)
#define HELLO_RESEND_US (500 * MS_US)
#define QUEUE_MIN       16u
#define RTT_WEIGHT      (1.0 / 8)
#define RTT_PATIENCE    8 /* Round trips of silence: the coordinator is gone. */

/* --- the job ------------------------------------------------------------- */

static enum err job_room(struct worker *worker, const struct job *job)
{
    enum err err = worker_data_room(worker, job);

    if (err == ERR_OK)
        err = tally_init(&worker->tally, job->sum_dims, job->chunks);
    if (err == ERR_OK)
        err = tally_init(&worker->sent, job->sum_dims, job->chunks);
    if (err != ERR_OK)
        return err;
    worker->queue_capacity = job_items_max(job) + QUEUE_MIN;
    worker->queue = mem_new(worker->queue_capacity, sizeof *worker->queue);
    worker->block_terms =
        mem_new(job->products ? job->chunks : 0, sizeof *worker->block_terms);
    worker->spans = mem_new(SEGMENTS_MAX, sizeof *worker->spans);
    worker->answered = mem_new(SEGMENTS_MAX, sizeof *worker->answered);
    worker->row = mem_new((size_t)job->sum_dims + 1, sizeof *worker->row);
    worker->gradient =
        mem_new((size_t)job->sum_dims + 1, sizeof *worker->gradient);
    for (int i = 0; i < 2; i++) {
        worker->weights[i] = mem_new(job->products ? job->sum_dims : job->dims,
                                     sizeof **worker->weights);
        worker->direction[i] = mem_new(job->dims, sizeof **worker->direction);
        worker->exponent[i] =
            mem_new((size_t)job->sum_dims + 1, sizeof **worker->exponent);
        if (worker->weights[i] == NULL || worker->direction[i] == NULL ||
            worker->exponent[i] == NULL)
            return ERR_NOMEM;
    }
    if (worker->queue == NULL || worker->row == NULL ||
        worker->gradient == NULL || worker->block_terms == NULL ||
        worker->spans == NULL || worker->answered == NULL)
        return ERR_NOMEM;
    return ERR_OK;
}

/* The one place where a worker allocates: once, when it learns its job. */
static void job_open(struct worker *worker, const struct job *job,
                     struct actions *actions)
{
    if (job_room(worker, job) != ERR_OK) {
        worker_finish(worker, actions, ERR_NOMEM,
                      "not enough memory for the model and its tallies");
        return;
    }
    worker->job = job_kept(job, worker->brief);
    worker->open = true;
    if (worker->options.resident)
        chunkset_fill(&worker->held);
    if (worker->options.owns)
        chunkset_add_range(&worker->held, worker->options.own_first,
                           worker->options.own_end);
    actions_add(actions, ACTION_OPEN)->job = &worker->job;
}

void worker_link_welcome(struct worker *worker, const struct job *job,
                         struct actions *actions)
{
    if (worker->phase != WORKER_GREETING)
        return;
    if (worker->open &&
        (job->id != worker->job.id || job->dims != worker->job.dims ||
         job->chunks != worker->job.chunks)) {
        worker_finish(worker, actions, ERR_MISMATCH,
                      "the coordinator now runs another job; join again");
        return;
    }
    if ((worker->options.resident || worker->options.owns) &&
        !digest_equal(&job->data, &worker->options.data)) {
        worker_finish(worker, actions, ERR_MISMATCH,
                      "the coordinator trains on other data");
        return;
    }
    if (worker->options.owns &&
        (!job->owned || worker->options.own_end > job->chunks)) {
        worker_finish(worker, actions, ERR_MISMATCH,
                      "the coordinator describes a job that cannot be");
        return;
    }
    worker->phase = WORKER_SERVING;
    worker->pulse.tracing = job->stints;
    if (!worker->open)
        job_open(worker, job, actions);
    worker->assignment = 0;
    worker->retry_us = worker->options.retry_us;
    worker->beat_at = worker->now;
    worker_data_welcomed(worker, actions);
}

/* --- the link ------------------------------------------------------------ */

void worker_link_greet(struct worker *worker, struct actions *actions)
{
    struct msg_hello *hello = &worker_send(actions, MSG_HELLO)->hello;

    hello->version = MSG_VERSION;
    memcpy(hello->name, worker->options.name, NAME_SIZE);
    hello->incarnation = worker->options.incarnation;
    hello->pid = worker->options.pid;
    hello->arithmetic = worker->options.arithmetic;
    hello->resident = worker->options.resident;
    hello->data = worker->options.data;
    hello->job = worker->open ? worker->job.id : 0;
    hello->view_seen = worker->view_seen;
    hello->keeps = worker_data_keeps(worker);
    hello->alone = worker->options.alone;
    hello->owns = worker->options.owns;
    hello->part = worker->options.part;
    worker->hello_at = worker->now + HELLO_RESEND_US;
}

void worker_link_up(struct worker *worker, struct actions *actions)
{
    if (worker->phase != WORKER_DIALLING)
        return;
    worker->phase = WORKER_GREETING;
    worker->heard_at = worker->now;
    worker->greet_until = worker->now + GREETING_US;
    worker_link_greet(worker, actions);
}

void worker_link_redial(struct worker *worker, struct actions *actions)
{
    worker_round_end(worker, actions);
    worker->pulse.clock = (struct offset){0}; /* Maybe another machine's. */
    if (worker->leaving) {
        worker_finish(worker, actions, ERR_OK,
                      "left while the coordinator was away");
        return;
    }
    worker->phase = WORKER_DIALLING;
    worker->dial_at = worker->now + worker->retry_us;
    worker->retry_us =
        time_sooner(worker->retry_us * 2, worker->options.retry_max_us);
}

void worker_link_down(struct worker *worker, struct actions *actions)
{
    if (worker->phase == WORKER_DONE)
        return;
    if (worker->phase == WORKER_SERVING)
        worker->lost_at = worker->now;
    worker_link_redial(worker, actions);
}

void worker_link_dial(struct worker *worker, struct actions *actions)
{
    if (worker->options.give_up_us != TIME_NEVER &&
        worker->now - worker->lost_at >= worker->options.give_up_us) {
        worker_finish(worker, actions, ERR_TIMEOUT,
                      "the coordinator cannot be reached");
        return;
    }
    worker->dial_at = TIME_NEVER;
    (void)actions_add(actions, ACTION_CONNECT);
}

void worker_link_beat(struct worker *worker, struct actions *actions)
{
    struct msg_beat *msg = &worker_send(actions, MSG_BEAT)->beat;

    msg->sequence = ++worker->sequence;
    msg->sent_us = worker->now;
    msg->view = worker->in_round ? worker->key.view : 0;
    msg->step = worker->in_round ? worker->key.step : 0;
    msg->attempt = worker->in_round ? worker->key.attempt : 0;
    msg->assignment = worker->assignment;
    /* An answer that is on its way is not lost. */
    msg->queued = worker_pieces_left(worker) + worker->backlog;
    msg->chunks_done = worker->chunks_done;
    worker->beat_at = worker->now + worker->job.beat_us;
    worker->beaten = true;
}

void worker_link_pulse(struct worker *worker, struct actions *actions)
{
    if (worker->phase != WORKER_SERVING)
        return;
    if (!worker->computing && !worker->holding)
        pulse_idle(&worker->pulse, worker->now);
    if (pulse_due(&worker->pulse, &worker->job, worker->now, worker->beaten))
        pulse_fill(&worker->pulse, &worker->job, worker->now, worker->beaten,
                   &worker_send(actions, MSG_PULSE)->pulse);
}

void worker_link_leave(struct worker *worker, struct actions *actions)
{
    if (worker->phase == WORKER_SERVING) {
        worker->phase = WORKER_LEAVING;
        worker->leave_until = worker->now + LEAVE_WAIT_US;
    }
    worker_send(actions, MSG_LEAVE);
    worker->leave_at = worker->now + LEAVE_RESEND_US;
}

/* Leave in good order: what is at hand is finished and sent (a delay is cut
 * short), the rest goes back to the coordinator with LEAVE. */
void worker_leave(struct worker *worker, struct actions *actions)
{
    if (worker->leaving || worker->phase == WORKER_DONE)
        return;
    worker->leaving = true;
    if (worker->phase != WORKER_SERVING) {
        worker_finish(worker, actions, ERR_OK, "left before the job began");
        return;
    }
    if (worker->coded &&
        (worker->at == worker->queue_count || worker->queue[worker->at].coded))
        worker_round_end(worker,
                         actions); /* Part of a coded row is of no use. */
    if (worker->at < worker->queue_count)
        worker->queue_count = worker->at + worker_pieces_begun(worker);
    if (worker->holding)
        worker_pieces_deliver(worker, actions);
}

bool worker_link_silent(const struct worker *worker)
{
    const time_us patient = (time_us)(RTT_PATIENCE * worker->rtt_us);
    const time_us limit =
        worker->job.dead_us > patient ? worker->job.dead_us : patient;

    return worker->job.beat_us > 0 && worker->job.dead_us > 0 &&
           worker->now - worker->heard_at >= limit;
}

/* A road whose queues are full of our own bulk is slow, not cut. */
void worker_link_echo(struct worker *worker, const struct msg_echo *msg)
{
    const double rtt_us = (double)(worker->now - msg->sent_us);

    if (msg->sent_us <= worker->now && msg->sequence <= worker->sequence)
        worker->rtt_us += RTT_WEIGHT * (rtt_us - worker->rtt_us);
}
