/*
 * token.h - the secret that lets a machine in (S1, S4).
 *
 * A token file is one line, `muster-token-1 NAME HEX64`.  NAME is `cluster`
 * for the token of a coordinator, or the name of the one worker it is for:
 *
 *     key of worker W = HKDF-SHA256(cluster key, "muster worker W")
 *
 * so a coordinator knows every worker's key, and a stolen worker token can
 * pose neither as a coordinator nor as another worker.
 */
#ifndef OS_TOKEN_H
#define OS_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TOKEN_KEY_BYTES 32u
#define TOKEN_NAME_SIZE 65u /* [A-Za-z0-9._-]{1,64} */
#define TOKEN_CLUSTER   "cluster"
#define TOKEN_LINE_SIZE (16u + TOKEN_NAME_SIZE + 2 * TOKEN_KEY_BYTES + 4)

struct token {
    char name[TOKEN_NAME_SIZE];
    uint8_t key[TOKEN_KEY_BYTES];
};

/* Write a new token file (0600); ERR_EXISTS if anything has that name.  `name`
 * NULL: a fresh cluster token.  Otherwise the token of worker `name`, which is
 * not "cluster", derived from the cluster token in file `from`. */
MUST_CHECK enum err token_new(const char *path, const char *name,
                              const char *from, struct why *why);

/* The file must be ours and 0600.  `coordinator`: only a cluster token will
 * do.  Wipe with token_close. */
MUST_CHECK enum err token_load(const char *path, bool coordinator,
                               struct token *token, struct why *why);
/* The same of the file that a user named: it may be good for many runs, so this
 * process's memory is then kept out of core files and of other processes'
 * reach. */
MUST_CHECK enum err token_given(const char *path, bool coordinator,
                                struct token *token, struct why *why);
/* A fresh cluster token, in memory ... */
void token_draw(struct token *token);
/* ... and in a file, 0600, in place of what is there. */
MUST_CHECK enum err token_keep(const char *path, const struct token *token,
                               struct why *why);
/* The line of such a file, with its newline, in `line`, which is returned; and
 * back: false if it is none.  Wipe the line with token_wipe. */
const char *token_line(const struct token *token, char line[TOKEN_LINE_SIZE]);
bool token_parse(const char *line, struct token *token);
void token_close(struct token *token);
/* What held a key, or a part of one. */
void token_wipe(void *bytes, size_t size);

bool token_is_cluster(const struct token *token);
/* From a cluster token the key of `name` ("cluster": its own).  False if that
 * is not a name. */
bool token_key_of(const struct token *cluster, const char *name,
                  uint8_t key[TOKEN_KEY_BYTES]);

#endif /* OS_TOKEN_H */
