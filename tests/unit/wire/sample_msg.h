/*
 * sample_msg.h - one message of every kind of a group, and of owners of private
 * data: for round trips and corpora.
 */
#ifndef WIRE_SAMPLE_MSG_H
#define WIRE_SAMPLE_MSG_H

#include "wire/roll_codec.h"
#include "wire/sum_codec.h"

#define SAMPLE_ROLL_DIMS 8

/* `values`: two of them, borrowed. */
struct sum_msg sample_sum(enum sum_kind kind, const double *values);
struct roll_msg sample_roll(enum roll_kind kind);

#endif /* WIRE_SAMPLE_MSG_H */
