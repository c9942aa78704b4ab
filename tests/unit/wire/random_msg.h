/*
 * random_msg.h - random messages of every kind, for round trips and corpora.
 */
#ifndef WIRE_RANDOM_MSG_H
#define WIRE_RANDOM_MSG_H

#include "base/rng.h"
#include "core/msg.h"

#define RANDOM_DIMS     70u /* More than one block of math/exact/pack.h. */
#define RANDOM_SUM_DIMS (RANDOM_DIMS * (RANDOM_DIMS + 1) / 2) /* HESSIAN. */
#define RANDOM_ITEMS    9u
#define RANDOM_BYTES    300u
#define RANDOM_KNOWN    5u

/* Buffers behind the pointers of a random message. */
struct random_room {
    struct item items[RANDOM_ITEMS], terms[RANDOM_ITEMS];
    int16_t exponent[RANDOM_SUM_DIMS + 1];
    double weights[RANDOM_DIMS + 1];
    double direction[RANDOM_DIMS];
    int64_t sum[RANDOM_DIMS];
    struct answer answers[RANDOM_ITEMS];
    uint8_t bytes[RANDOM_BYTES];
    struct stint stints[STINTS_MAX];
    struct silent silent[RANDOM_ITEMS];
    struct ring_known known[RANDOM_KNOWN];
    uint32_t pieces[RANDOM_ITEMS];
};

/* Fill `msg` with a valid message of `kind`; vectors are RANDOM_DIMS long. */
void random_msg(struct rng *rng, enum msg_kind kind, struct random_room *room,
                struct msg *msg);

#endif /* WIRE_RANDOM_MSG_H */
