/*
 * play.h - a coordinator in a round; the test plays its workers.
 */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include "stage.h"

struct play {
    struct coordinator coordinator;
    struct actions actions;
    time_us now;
    struct round_key key; /* Of the last ROUND seen. */
};

/* Nobody has come yet. */
void play_begin(struct play *play, const struct coordinator_options *options);
/* Workers w0.. on links 0.. have joined, the first round is open. */
void play_open(struct play *play, const struct coordinator_options *options);
void play_close(struct play *play);
void play_step(struct play *play, struct event event);
void play_say(struct play *play, uint32_t link, const struct msg *msg);
void play_hello(struct play *play, uint32_t link, const char *name,
                uint64_t incarnation);
/* A worker without data, far-LINK: HAVE will follow if it `keeps` chunks. */
void play_hello_far(struct play *play, uint32_t link, bool keeps);
/* Of chunks 0.. to 7, as bits. */
void play_have(struct play *play, uint32_t link, uint8_t held, uint8_t near);
/* A tally of the piece with these sums, valid as long as they are. */
struct msg play_tally(const struct play *play, uint32_t piece,
                      const int64_t *sum);
/* A tally of the piece whose first sum is `value`, the others 0. */
void play_answer(struct play *play, uint32_t link, uint32_t piece,
                 int64_t value);
/* The coordinator asked to judge: its own tally has this first sum. */
void play_judge(struct play *play, int64_t value);
/* What the trace says of the last step: poison of that kind. */
bool play_struck(const struct play *play, enum poison_kind kind,
                 const char *name);

#endif
