/*
 * ways.h - ways to a coordinator and the key to it.
 *
 * Either `HOST:PORT[,HOST:PORT...]` and a token's file, or the folder of a run
 * of this user on this machine, which holds both:
 *
 *     address    HOST:PORT, while the run is going on; then, if whoever started
 *                it said so in ADDRESS_MARK, that word, by which a script knows
 *                that it is its own run's, and not that of another before it
 *     run.token  0600; the run's own key, where --token-file gave none
 *
 * So whoever may read the folder may join, look and stop, and nobody else may,
 * although any process of this machine can dial the port.
 */
#ifndef NODE_WAYS_H
#define NODE_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/msg.h"
#include "core/run/names.h"
#include "os/net/net.h"
#include "os/net/token.h"

#define WAYS_MAX     8u
#define ADDRESS_FILE "address"
#define ADDRESS_MARK "MUSTER_ADDRESS_MARK" /* In the environment. */
#define TOKEN_FILE   "run.token"
#define LOCK_FILE    "lock"        /* Held by the run while it is going on. */
#define READING_FILE "reading"     /* There until its rows are read: below. */
#define LAUNCH_FILE  "launch.lock" /* By its launcher: cli/launch/engine.h. */
extern const struct names ways_names;

struct ways {
    struct net_address addresses[WAYS_MAX];
    uint32_t count;
    struct token token;
    bool own;           /* The key is a run's own, from its folder. */
    const char *folder; /* The run's, as the caller wrote it; NULL: it was an
                           address. */
};

/* Who is not reached, and knows the folder, need not dial again: nobody holds
 * it, and the address was taken away in good order.  A run that was killed
 * leaves it, and may be resumed. */
#define WAYS_OVER "the run is over"
bool ways_over(const char *folder); /* NULL: nobody knows. */

/* `token_file` NULL: `where` must be a folder.  `cluster`: the token of one
 * worker will not do. */
MUST_CHECK enum err ways_open(const char *where, const char *token_file,
                              bool cluster, struct ways *ways, struct why *why);
/* Addresses alone, `HOST:PORT[,HOST:PORT...]`; there is no key. */
MUST_CHECK enum err ways_parse(const char *text, struct ways *ways,
                               struct why *why);
void ways_close(struct ways *ways);

/* A run's own key: that of the folder, so that whoever joined before a restart
 * is still let in, or a fresh one, kept there. */
MUST_CHECK enum err ways_keep_token(const char *folder, struct token *token,
                                    struct why *why);
MUST_CHECK enum err ways_keep_address(const char *folder,
                                      const struct net_address *address,
                                      struct why *why);
/* The port of a run that was killed there: who had joined it dials that. */
uint16_t ways_last_port(const char *folder); /* 0: none is known. */
/* Does somebody run what is in the folder? */
bool ways_held(const char *folder);
/* Of a run that holds the folder and reads its rows, so that nobody listens: is
 * it in READING_FILE's time?  Who removes that file decides: the run, that it
 * goes on; somebody else (true), that it ends. */
bool ways_reading(const char *folder);
bool ways_stop_reading(const char *folder);
/* Does a run with workers hold the folder, which will listen in a moment?
 * `dialled`: its address, in vain, which may be that of the last life. */
bool ways_begins(const char *folder, bool dialled);
/* The sentence for who asks in vain in that folder: what is there instead, and
 * what to do about it. */
enum err ways_silent(const char *folder, struct why *why);
/* Nobody is there any more. */
void ways_forget_address(const char *folder);
void ways_forget_token(const char *folder);

/* The host's name up to the first dot and the process id: unique and told
 * apart at a glance. */
void ways_own_name(char name[NAME_SIZE]);

#endif /* NODE_WAYS_H */
