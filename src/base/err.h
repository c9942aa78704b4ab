/*
 * err.h - the one error type of the project.
 *
 * A function that can fail for a reason outside the program returns an
 * `enum err` and writes its outputs only when it returns ERR_OK.  A function
 * that can fail only through a bug CHECKs instead and returns something else.
 *
 * Edges that speak to people (files, flags, sockets) also fill a `struct why`
 * with one sentence: what, where, what to do.  It is built inside-out: the
 * innermost function says what happened, its callers prefix where.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#define ERR_LIST(X)                                                            \
    X(ERR_OK, "success")                                                       \
    X(ERR_NOMEM, "out of memory")                                              \
    X(ERR_SHAPE, "parameters do not fit together")                             \
    X(ERR_UNKNOWN, "no such name")                                             \
    X(ERR_UNDECODABLE, "too few answers to recover the gradient")              \
    X(ERR_RANGE, "value out of range")                                         \
    X(ERR_OVERLAP, "chunk sets overlap")                                       \
    X(ERR_FORMAT, "malformed input")                                           \
    X(ERR_TRUNCATED, "input ends too early")                                   \
    X(ERR_TOOBIG, "larger than the limit")                                     \
    X(ERR_STALE, "belongs to another step, view or job")                       \
    X(ERR_NOTFOUND, "not found")                                               \
    X(ERR_EXISTS, "already exists")                                            \
    X(ERR_IO, "input/output error")                                            \
    X(ERR_DENIED, "not permitted")                                             \
    X(ERR_CLOSED, "connection closed")                                         \
    X(ERR_TIMEOUT, "timed out")                                                \
    X(ERR_MISMATCH, "does not match")                                          \
    X(ERR_CANCELLED, "cancelled")                                              \
    X(ERR_UNSUPPORTED, "not supported here")

#define ERR_ENUM(code, text) code,
enum err { ERR_LIST(ERR_ENUM) };
#undef ERR_ENUM

#define MUST_CHECK __attribute__((warn_unused_result))

/* Fixed text for `err`; never NULL, never freed. */
const char *err_text(enum err err);

#define WHY_SIZE 512

/* One sentence for people.  Zeroed is empty. */
struct why {
    char text[WHY_SIZE];
};

/* Set the sentence (truncated to fit).  Returns `err`, so that a failing
 * function can `return why_set(why, ERR_FORMAT, "line %u: ...", n)`.
 * `why` may be NULL: then only the code is passed on. */
__attribute__((format(printf, 3, 4))) enum err
why_set(struct why *why, enum err err, const char *format, ...);

/* Put "<prefix>: " before what is there already.  Returns `err`. */
__attribute__((format(printf, 3, 4))) enum err
why_in(struct why *why, enum err err, const char *format, ...);

#endif /* BASE_ERR_H */
