/*
 * answer.h - answers to `muster status`, `stop` and `set`: JSON in a message of
 * fixed size.
 */
#ifndef NODE_ANSWER_H
#define NODE_ANSWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number, or null for NaN and infinities, which JSON lacks. */
json_t *json_number(double value);

/* A list that may be longer than a message: what does not fit is counted. */
struct answer_list {
    json_t *entries;
    size_t room; /* Bytes that are left. */
    uint32_t more;
};

/* With room for the rest of an answer of `capacity` bytes. */
struct answer_list answer_list_new(size_t capacity);
void answer_list_add(struct answer_list *list, json_t *entry);

/* To who has not the token to `stop` a run, or to `change` it. */
json_t *answer_not_allowed(const char *verb);
/* To who asks for the run's end. */
json_t *answer_stop(bool allowed, uint32_t step);

/* Writes the answer, without a NUL, and lets go of it; of NULL, or one that is
 * too long, that there is no memory.  Returns the bytes written. */
size_t answer_write(json_t *answer, char *text, size_t capacity);

#endif /* NODE_ANSWER_H */
