/*
 * tls.c - TLS 1.3 with a pre-shared key by OpenSSL, over memory of ours.  Both
 * sides insist on the key: a server that shows a certificate instead is refused
 * before a byte is sent.
 */
#include "os/net/tls.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* TLS_AES_128_GCM_SHA256, as it is written in a ClientHello. */
static const unsigned char cipher_id[] = {0x13, 0x01};

struct tls_context {
    SSL_CTX *ssl;
    BIO_METHOD *road;
    const struct token *token;
    bool server;
};

struct tls {
    SSL *ssl;
    const uint8_t *fed; /* Lent, and how much of it is left. */
    size_t fed_left;
    struct tls_out out;
    struct tls_context *context;
    char peer[TOKEN_NAME_SIZE];
};

/* --- OpenSSL's road to the peer ------------------------------------------ */

/* Its own buffers in memory would copy every byte once more, each way. */

static int road_read(BIO *road, char *to, int capacity)
{
    struct tls *tls = BIO_get_data(road);
    const size_t take =
        tls->fed_left < (size_t)capacity ? tls->fed_left : (size_t)capacity;

    BIO_clear_retry_flags(road);
    if (take == 0) {
        BIO_set_retry_read(road);
        return -1;
    }
    memcpy(to, tls->fed, take);
    tls->fed += take;
    tls->fed_left -= take;
    return (int)take;
}

static int road_write(BIO *road, const char *from, int size)
{
    struct tls *tls = BIO_get_data(road);
    struct tls_out *out = &tls->out;
    const size_t need = out->size + (size_t)size;
    uint8_t *grown;

    BIO_clear_retry_flags(road);
    if (need > out->capacity) {
        grown = mem_grow(out->bytes, out->size, need, 1, &out->capacity);
        if (grown == NULL)
            return -1;
        out->bytes = grown;
    }
    memcpy(out->bytes + out->size, from, (size_t)size);
    out->size = need;
    return size;
}

static long road_control(BIO *road, int what, long number, void *pointer)
{
    (void)road;
    (void)number;
    (void)pointer;
    return what == BIO_CTRL_FLUSH; /* It is for the connection to write. */
}

static BIO_METHOD *road_new(void)
{
    BIO_METHOD *road = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "muster");

    if (road != NULL && BIO_meth_set_read(road, road_read) == 1 &&
        BIO_meth_set_write(road, road_write) == 1 &&
        BIO_meth_set_ctrl(road, road_control) == 1)
        return road;
    BIO_meth_free(road);
    return NULL;
}

/* --- keys ------------------------------------------------------------------
 */

/* A session that stands for `key`; NULL if OpenSSL has no room. */
static SSL_SESSION *session_of(SSL *ssl, const uint8_t key[TOKEN_KEY_BYTES])
{
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, cipher_id);
    SSL_SESSION *session = SSL_SESSION_new();

    if (session != NULL && cipher != NULL &&
        SSL_SESSION_set1_master_key(session, key, TOKEN_KEY_BYTES) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

static int client_offers(SSL *ssl, const EVP_MD *md, const unsigned char **id,
                         size_t *id_size, SSL_SESSION **session)
{
    const struct tls *tls = SSL_get_app_data(ssl);
    const struct token *token = tls->context->token;

    (void)md; /* SHA-256, the only one offered. */
    *session = session_of(ssl, token->key);
    *id = (const unsigned char *)token->name;
    *id_size = strlen(token->name);
    return *session != NULL;
}

static int server_finds(SSL *ssl, const unsigned char *id, size_t id_size,
                        SSL_SESSION **session)
{
    struct tls *tls = SSL_get_app_data(ssl);
    char name[TOKEN_NAME_SIZE] = "";
    uint8_t key[TOKEN_KEY_BYTES];

    *session = NULL;
    if (id_size == 0 || id_size >= TOKEN_NAME_SIZE ||
        memchr(id, '\0', id_size) != NULL)
        return 1; /* Not known: the handshake fails for want of a key. */
    memcpy(name, id, id_size);
    if (!token_key_of(tls->context->token, name, key))
        return 1;
    *session = session_of(ssl, key);
    OPENSSL_cleanse(key, sizeof key);
    memcpy(tls->peer, name, sizeof name);
    return 1;
}

static int believe_none(X509_STORE_CTX *store, void *context)
{
    (void)store;
    (void)context;
    return 0;
}

/* A server may pass over the key that it was offered and show a certificate
 * instead.  The handshake ends there, before a byte of ours is sent. */
static void refuse_certificates(SSL_CTX *ssl)
{
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ssl, believe_none, NULL);
}

static bool configure(SSL_CTX *ssl, bool server)
{
    if (SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(ssl, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(ssl, "TLS_AES_128_GCM_SHA256") != 1 ||
        SSL_CTX_set_num_tickets(ssl, 0) != 1)
        return false;
    (void)SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    if (server) {
        SSL_CTX_set_psk_find_session_callback(ssl, server_finds);
    } else {
        SSL_CTX_set_psk_use_session_callback(ssl, client_offers);
        refuse_certificates(ssl);
    }
    return true;
}

enum err tls_context_new(const struct token *token, bool server,
                         struct tls_context **context)
{
    struct tls_context *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->token = token;
    made->server = server;
    made->ssl = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    made->road = road_new();
    if (made->ssl == NULL || made->road == NULL ||
        !configure(made->ssl, server)) {
        tls_context_free(made);
        return ERR_NOMEM;
    }
    *context = made;
    return ERR_OK;
}

void tls_context_free(struct tls_context *context)
{
    if (context == NULL)
        return;
    SSL_CTX_free(context->ssl);
    BIO_meth_free(context->road);
    mem_free(context);
}

enum err tls_new(struct tls_context *context, struct tls **tls)
{
    struct tls *made = mem_new(1, sizeof *made);
    BIO *road;

    if (made == NULL)
        return ERR_NOMEM;
    made->context = context;
    made->ssl = SSL_new(context->ssl);
    road = BIO_new(context->road);
    if (made->ssl == NULL || road == NULL) {
        SSL_free(made->ssl);
        (void)BIO_free(road);
        mem_free(made);
        return ERR_NOMEM;
    }
    BIO_set_data(road, made);
    BIO_set_init(road, 1);
    SSL_set_bio(made->ssl, road, road); /* Takes it. */
    CHECK(SSL_set_app_data(made->ssl, made) == 1);
    if (context->server)
        SSL_set_accept_state(made->ssl);
    else
        SSL_set_connect_state(made->ssl);
    *tls = made;
    return ERR_OK;
}

void tls_free(struct tls *tls)
{
    if (tls == NULL)
        return;
    SSL_free(tls->ssl);
    mem_free(tls->out.bytes);
    mem_free(tls);
}

bool tls_feed(struct tls *tls, const void *data, size_t size)
{
    if (tls->fed_left > 0)
        return false;
    tls->fed = data;
    tls->fed_left = size;
    return true;
}

enum tls_state tls_shake(struct tls *tls)
{
    int result;

    ERR_clear_error();
    result = SSL_do_handshake(tls->ssl);
    if (result == 1) /* "Reused" is what OpenSSL calls that a key was. */
        return SSL_session_reused(tls->ssl) == 1 ? TLS_OPEN : TLS_FAILED;
    if (SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ)
        return TLS_SHAKING;
    return TLS_FAILED;
}

size_t tls_read(struct tls *tls, void *data, size_t capacity, bool *closed)
{
    size_t got = 0;
    int result;

    ERR_clear_error();
    result = SSL_read_ex(tls->ssl, data, capacity, &got);
    *closed =
        result != 1 && SSL_get_error(tls->ssl, result) != SSL_ERROR_WANT_READ;
    return result == 1 ? got : 0;
}

enum err tls_write(struct tls *tls, const void *data, size_t size)
{
    size_t put = 0;

    ERR_clear_error();
    if (SSL_write_ex(tls->ssl, data, size, &put) != 1 || put != size)
        return ERR_NOMEM; /* A memory buffer refuses for no other reason. */
    return ERR_OK;
}

void tls_end(struct tls *tls)
{
    ERR_clear_error();
    (void)SSL_shutdown(tls->ssl);
}

size_t tls_pending(const struct tls *tls)
{
    return tls->out.size;
}

struct tls_out tls_take(struct tls *tls)
{
    const struct tls_out out = tls->out;

    tls->out = (struct tls_out){.bytes = NULL};
    return out;
}

bool tls_has_room(const struct tls *tls)
{
    return tls->out.bytes != NULL;
}

void tls_lend(struct tls *tls, struct tls_out room)
{
    CHECK(!tls_has_room(tls));
    tls->out = room;
    tls->out.size = 0;
}

const char *tls_peer(const struct tls *tls)
{
    return tls->peer;
}
