/*
 * token.c - token files and key derivation (HKDF-SHA256): a worker's key
 * follows from the cluster's and its name, so that one worker's token opens
 * nothing else.
 */
#include "os/net/token.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/hex.h"
#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/output.h"
#include "os/random.h"

#define TOKEN_MAGIC    "muster-token-1"
#define TOKEN_FILE_MAX 4096u
#define HEX_DIGITS     (2u * TOKEN_KEY_BYTES)

static bool name_valid(const char *name)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm"
                                  "nopqrstuvwxyz0123456789._-";
    const size_t size = strlen(name);

    return size > 0 && size < TOKEN_NAME_SIZE && strspn(name, allowed) == size;
}

bool token_is_cluster(const struct token *token)
{
    return strcmp(token->name, TOKEN_CLUSTER) == 0;
}

void token_close(struct token *token)
{
    OPENSSL_cleanse(token, sizeof *token);
}

void token_wipe(void *bytes, size_t size)
{
    OPENSSL_cleanse(bytes, size);
}

static bool hkdf(const uint8_t key[TOKEN_KEY_BYTES], char *info, uint8_t *out)
{
    static char digest[] = "SHA256";
    uint8_t secret[TOKEN_KEY_BYTES];
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret,
                                          sizeof secret),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info,
                                          strlen(info)),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
    bool ok;

    memcpy(secret, key, sizeof secret);
    ok = context != NULL &&
         EVP_KDF_derive(context, out, TOKEN_KEY_BYTES, params) == 1;
    OPENSSL_cleanse(secret, sizeof secret);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return ok;
}

bool token_key_of(const struct token *cluster, const char *name,
                  uint8_t key[TOKEN_KEY_BYTES])
{
    char info[TOKEN_NAME_SIZE + 16];

    if (!name_valid(name))
        return false;
    if (strcmp(name, TOKEN_CLUSTER) == 0) {
        memcpy(key, cluster->key, TOKEN_KEY_BYTES);
        return true;
    }
    (void)snprintf(info, sizeof info, "muster worker %s", name);
    return hkdf(cluster->key, info, key);
}

/* "muster-token-1 NAME HEX64" and nothing else but a newline. */
bool token_parse(const char *text, struct token *token)
{
    static const size_t start = sizeof TOKEN_MAGIC; /* With the space. */
    const char *space;
    size_t size;

    if (strncmp(text, TOKEN_MAGIC " ", start) != 0)
        return false;
    text += start;
    space = strchr(text, ' ');
    size = space != NULL ? (size_t)(space - text) : 0;
    if (size == 0 || size >= TOKEN_NAME_SIZE)
        return false;
    memcpy(token->name, text, size);
    token->name[size] = '\0';
    text = space + 1;
    if (!name_valid(token->name) || strlen(text) < HEX_DIGITS ||
        !hex_get(text, TOKEN_KEY_BYTES, token->key))
        return false;
    text += HEX_DIGITS;
    return *text == '\0' || strcmp(text, "\n") == 0;
}

enum err token_load(const char *path, bool coordinator, struct token *token,
                    struct why *why)
{
    struct token made = {0};
    uint8_t *text = NULL;
    size_t size = 0;
    enum err err = file_read_private(path, TOKEN_FILE_MAX, &text, &size, why);

    if (err == ERR_NOTFOUND)
        return why_set(why, err,
                       "%s: there is no such token; copy the cluster's, or "
                       "make one with `muster token new`",
                       path);
    if (err != ERR_OK)
        return err;
    if (!token_parse((const char *)text, &made))
        err =
            why_set(why, ERR_FORMAT,
                    "%s: not a token; make one with `muster token new`", path);
    else if (coordinator && !token_is_cluster(&made))
        err = why_set(why, ERR_DENIED,
                      "%s: this is a worker's token; coordinators and relays "
                      "need the cluster token",
                      path);
    if (err == ERR_OK)
        *token = made;
    token_close(&made);
    OPENSSL_cleanse(text, size);
    mem_free(text);
    return err;
}

enum err token_given(const char *path, bool coordinator, struct token *token,
                     struct why *why)
{
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return token_load(path, coordinator, token, why);
}

void token_draw(struct token *token)
{
    *token = (struct token){.name = TOKEN_CLUSTER};
    random_fill(token->key, sizeof token->key);
}

const char *token_line(const struct token *token, char line[TOKEN_LINE_SIZE])
{
    char key[HEX_DIGITS + 1];

    (void)snprintf(line, TOKEN_LINE_SIZE, "%s %s %s\n", TOKEN_MAGIC,
                   token->name, hex_put(token->key, TOKEN_KEY_BYTES, key));
    OPENSSL_cleanse(key, sizeof key);
    return line;
}

static enum err write_token(const char *path, enum output_way way,
                            const struct token *token, struct why *why)
{
    char line[TOKEN_LINE_SIZE];
    struct output *output;
    enum err err = output_open(&output, path, way, 0600, why);

    if (err == ERR_OK) {
        (void)token_line(token, line);
        output_write(output, line, strlen(line));
        err = output_commit(output, why);
    }
    OPENSSL_cleanse(line, sizeof line);
    return err;
}

enum err token_keep(const char *path, const struct token *token,
                    struct why *why)
{
    return write_token(path, OUTPUT_OWN, token, why);
}

static enum err derive(const char *name, const char *from, struct token *token,
                       struct why *why)
{
    struct token cluster;
    enum err err;

    if (strcmp(name, TOKEN_CLUSTER) == 0)
        return why_set(why, ERR_FORMAT,
                       "\"%s\" is the name of the cluster's own token; choose "
                       "another for the worker",
                       name);
    if (!name_valid(name))
        return why_set(why, ERR_FORMAT,
                       "\"%s\" is not a worker name; use letters, digits, "
                       "'.', '_' and '-', at most 64",
                       name);
    if (from == NULL)
        return why_set(why, ERR_NOTFOUND,
                       "the token of a worker is made from the cluster token; "
                       "name that file too");
    err = token_load(from, true, &cluster, why);
    if (err != ERR_OK)
        return err;
    (void)snprintf(token->name, sizeof token->name, "%s", name);
    if (!token_key_of(&cluster, name, token->key))
        err = why_set(why, ERR_UNSUPPORTED, "OpenSSL here has no HKDF");
    token_close(&cluster);
    return err;
}

enum err token_new(const char *path, const char *name, const char *from,
                   struct why *why)
{
    const bool named = strcmp(path, "-") != 0;
    struct token token = {0};
    enum err err = ERR_OK;

    if (name == NULL)
        token_draw(&token);
    else
        err = derive(name, from, &token, why);
    if (err == ERR_OK)
        err = write_token(path, named ? OUTPUT_NEW : OUTPUT_WHOLE, &token, why);
    token_close(&token);
    if (err == ERR_EXISTS)
        return why_set(why, err,
                       "%s: is there already; remove it first if it may be "
                       "replaced",
                       path);
    return err;
}
