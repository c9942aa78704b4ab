/*
 * codec_parts.h - the codec's files to each other; nobody else's.
 *
 *   codec.c          encode, decode: which message, how long at most
 *   codec_fields.c   what several messages are made of
 *   codec_session.c  who is there and how it goes
 *   codec_data.c     rows, and who gets them where
 *   codec_round.c    pieces, weights and scale
 *   codec_answer.c   tallies, sums and rows
 *   codec_ring.c     between the peers of a ring
 *
 * Writers cannot fail: codec_bound gives the room.  A reader that meets what no
 * writer writes fails for good.
 */
#ifndef WIRE_CODEC_PARTS_H
#define WIRE_CODEC_PARTS_H

#include "base/bytes.h"
#include "base/time.h"
#include "wire/codec.h"

/* codec_fields.c */
static inline void must(struct reader *in, bool holds)
{
    if (!holds)
        in->ok = false;
}

bool control_character(char c);
void put_bool(struct writer *out, bool value);
bool get_bool(struct reader *in);
void put_digest(struct writer *out, const struct digest *digest);
void get_digest(struct reader *in, struct digest *digest);
/* A sentence for people: what could move a terminal's cursor is replaced. */
void put_sentence(struct writer *out, const char *text);
void get_sentence(struct reader *in, char text[REASON_SIZE]);
void put_key(struct writer *out, const struct round_key *key);
void get_key(struct reader *in, struct round_key *key);
/* Chunks [first, end). */
void get_range(struct reader *in, uint32_t *first, uint32_t *end);
/* Of one answer: sums of them stay far from the end of an int64. */
#define DURATION_MAX_US (24 * 3600 * SECOND_US)
int64_t get_duration(struct reader *in);
/* The first field of whatever greets.  Of another release's no more is read. */
bool get_version(struct reader *in, uint32_t *version);
/* Vectors are nearly all of the bytes: they are copied as they lie. */
void put_vector(struct writer *out, const double *values, size_t count);
void get_vector(struct reader *in, double *values, size_t count);
/* Rounded to floats, to nearest; what is beyond them becomes infinite, as it
 * would where they are computed with. */
void put_floats(struct writer *out, const double *values, size_t count);
/* A view.  No writer's weights are NaN, of which some would not come through
 * a double with the same bits. */
const uint8_t *get_floats(struct reader *in, size_t count);
/* `to` may begin where `from` does. */
void widen_floats(const uint8_t *from, size_t count, double *to);
/* Times that a clock may show: what is added to them does not overflow. */
int64_t get_time(struct reader *in);

/* codec_session.c */
void put_hello(struct writer *out, const struct msg_hello *hello);
void get_hello(struct reader *in, struct msg_hello *hello);
void put_job(struct writer *out, const struct job *job);
void get_job(struct reader *in, struct job *job);
void put_beat(struct writer *out, const struct msg_beat *beat);
void get_beat(struct reader *in, struct msg_beat *beat);
void put_relay(struct writer *out, const struct msg_relay *relay);
void get_relay(struct reader *in, struct msg_relay *relay);
void get_ask(struct reader *in, struct msg_ask *ask);
void get_status(struct reader *in, struct msg_status *status);
void put_pulse(struct writer *out, const struct msg_pulse *pulse);
void get_pulse(struct reader *in, const struct codec_room *room,
               struct msg_pulse *pulse);
void put_watch(struct writer *out, const struct msg_watch *watch);
void get_watch(struct reader *in, const struct codec_room *room,
               struct msg_watch *watch);

/* codec_data.c */
void put_data(struct writer *out, const struct msg_data *data);
void get_data(struct reader *in, struct msg_data *data);
void put_chunks(struct writer *out, const struct msg_chunks *chunks);
void get_chunks(struct reader *in, struct msg_chunks *chunks);
void put_have(struct writer *out, const struct msg_have *have);
void get_have(struct reader *in, struct msg_have *have);
void put_fetch(struct writer *out, const struct msg_fetch *fetch);
void get_fetch(struct reader *in, struct msg_fetch *fetch);
void put_need(struct writer *out, const struct msg_need *need);
void get_need(struct reader *in, struct msg_need *need);

/* codec_round.c */
/* Of an answer: as long as some evaluation of the job.  Whether it is the one
 * that was asked for is the coordinator's to judge. */
uint32_t get_sum_dims(struct reader *in, const struct codec_room *room);
/* What is one worker's own; all there is of a TASK. */
void put_task(struct writer *out, const struct msg_round *round);
/* The same for all, but their vectors ... */
void put_round_head(struct writer *out, const struct msg_round *round);
size_t to_line(size_t bytes);
void put_pad(struct writer *out);
void put_round_vectors(struct writer *out, const struct msg_round *round);
void get_task(struct reader *in, const struct codec_room *room,
              struct msg_round *round);
void get_round_head(struct reader *in, const struct codec_room *room,
                    struct msg_round *round);
void get_round_vectors(struct reader *in, struct codec_room *room,
                       struct msg_round *round);
/* The same where they are, narrow weights as floats still; exponents that the
 * room has are not read again. */
void find_round_vectors(struct reader *in, struct codec_room *room,
                        struct msg_round *round);
void put_work(struct writer *out, const struct msg_work *work);
void get_work(struct reader *in, const struct codec_room *room,
              struct msg_work *work);

/* codec_answer.c */
void put_tally_head(struct writer *out, const struct msg_tally *tally);
void put_tally(struct writer *out, const struct msg_tally *tally);
void get_tally_head(struct reader *in, const struct codec_room *room,
                    struct msg_tally *tally);
void get_tally(struct reader *in, const struct codec_room *room,
               struct msg_tally *tally);
void put_sum(struct writer *out, const struct msg_sum *sum);
void get_sum(struct reader *in, const struct codec_room *room,
             struct msg_sum *sum);
void put_row(struct writer *out, const struct msg_row *row);
void get_row(struct reader *in, const struct codec_room *room,
             struct msg_row *row);

/* codec_ring.c */
void put_terms(struct writer *out, const struct msg_terms *terms);
void get_terms(struct reader *in, struct msg_terms *terms);
void put_meet(struct writer *out, const struct msg_meet *meet);
void get_meet(struct reader *in, struct msg_meet *meet);
void put_roster(struct writer *out, const struct msg_roster *roster);
void get_roster(struct reader *in, const struct codec_room *room,
                struct msg_roster *roster);
void put_propose(struct writer *out, const struct msg_propose *propose);
void get_propose(struct reader *in, const struct codec_room *room,
                 struct msg_propose *propose);
void put_report(struct writer *out, const struct msg_report *report);
void get_report(struct reader *in, struct msg_report *report);
void put_state(struct writer *out, const struct msg_state *state);
void get_state(struct reader *in, struct msg_state *state);
void put_slice_head(struct writer *out, const struct msg_slice *slice);
void put_slice(struct writer *out, const struct msg_slice *slice);
void get_slice_head(struct reader *in, const struct codec_room *room,
                    struct msg_slice *slice);
void get_slice(struct reader *in, const struct codec_room *room,
               struct msg_slice *slice);
void put_parting(struct writer *out, const struct msg_parting *parting);
void get_parting(struct reader *in, struct msg_parting *parting);

#endif /* WIRE_CODEC_PARTS_H */
