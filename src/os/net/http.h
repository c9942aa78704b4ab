/*
 * http.h - fetch one file over HTTP or HTTPS (libcurl).
 *
 * What has come so far is kept in PATH.part and carried on with next time, if
 * the server can and still has the same file: PATH.part.from says which address
 * it is from and of which version (ETag or Last-Modified).  The file appears
 * under its name when it is whole and its SHA-256 is right.
 */
#ifndef OS_HTTP_H
#define OS_HTTP_H

#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

struct http_options {
    const char *url;
    const char *path;
    const struct digest *sha256; /* NULL: not known. */
    /* Told now and then; total is 0 if the server does not say. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};

struct http_report {
    uint64_t bytes;
    uint64_t resumed_at; /* Bytes that were there already. */
    struct digest sha256;
};

/* ERR_CLOSED (the network or the server cannot be reached), ERR_DENIED (it
 * wants a login), ERR_NOTFOUND, ERR_MISMATCH (SHA-256; nothing is kept),
 * ERR_IO and others: with a sentence. */
MUST_CHECK enum err http_download(const struct http_options *options,
                                  struct http_report *report, struct why *why);

#endif /* OS_HTTP_H */
