/*
 * rogue.h - a TLS server that has no right to be one, in a thread of its own.
 */
#ifndef TESTS_UNIT_OS_ROGUE_H
#define TESTS_UNIT_OS_ROGUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rogue_kind {
    ROGUE_CERTIFICATE, /* TLS 1.3; passes over the key, shows a certificate. */
    ROGUE_DOWNGRADE,   /* The same, and speaks TLS 1.2 only. */
    ROGUE_EMPTY_KEY,   /* TLS 1.3 with a key of one zero byte. */
    ROGUE_KINDS
};

struct rogue {
    enum rogue_kind kind;
    int listener;
    uint16_t port;
    pthread_t thread;
    bool shook;   /* A handshake came to its end ... */
    size_t heard; /* ... and so many bytes were said to it. */
};

/* Listens on 127.0.0.1; serves one connection. */
void rogue_open(struct rogue *rogue, enum rogue_kind kind);
/* Waits until that is gone. */
void rogue_close(struct rogue *rogue);

#endif /* TESTS_UNIT_OS_ROGUE_H */
