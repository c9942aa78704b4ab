/*
 * web.h - small questions over HTTP(S): one request, one answer in memory.
 *
 * For metadata servers and for ranges of a file; whole files are
 * os/net/http.h's. The connection is kept between questions.
 */
#ifndef OS_WEB_H
#define OS_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define WEB_HEADERS 2u

struct web;

struct web_question {
    const char *url;
    const char *ca; /* https: certificates of authorities to trust, a PEM
                       file; NULL: those of the system. */
    bool put;       /* PUT without a body, else GET. */
    bool near;      /* A metadata server: no proxy, no other
                       address, little patience. */
    const char *headers[WEB_HEADERS]; /* "Name: value"; NULL = none. */
    bool range;                       /* Only bytes [first, first + size). */
    uint64_t first, size;
};

/* `bytes` has room for `capacity`; a NUL is put after the answer if there is
 * room for it. */
struct web_answer {
    long status;
    uint8_t *bytes;
    size_t capacity;
    size_t size;
};

MUST_CHECK enum err web_new(struct web **web);
void web_free(struct web *web); /* Accepts NULL. */

/* ERR_OK whatever the status.  ERR_CLOSED: no answer; ERR_DENIED: a
 * certificate that is not to be trusted; ERR_TOOBIG: more than there is room
 * for; ERR_UNKNOWN: no address of the web; with a sentence. */
MUST_CHECK enum err web_ask(struct web *web,
                            const struct web_question *question,
                            struct web_answer *answer, struct why *why);

/* Does it begin as an address of the web does? */
bool web_is_address(const char *text);

#endif /* OS_WEB_H */
