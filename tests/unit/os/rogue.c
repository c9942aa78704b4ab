#include "os/rogue.h"

#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void certify(SSL_CTX *context)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *page = X509_new();
    X509_NAME *name = X509_get_subject_name(page);

    (void)ASN1_INTEGER_set(X509_get_serialNumber(page), 1);
    (void)X509_gmtime_adj(X509_getm_notBefore(page), 0);
    (void)X509_gmtime_adj(X509_getm_notAfter(page), 3600);
    (void)X509_set_pubkey(page, key);
    (void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                     (const unsigned char *)"rogue", -1, -1, 0);
    (void)X509_set_issuer_name(page, name);
    assert_true(X509_sign(page, key, EVP_sha256()) > 0);
    assert_int_equal(SSL_CTX_use_certificate(context, page), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(context, key), 1);
    X509_free(page);
    EVP_PKEY_free(key);
}

static int find_empty(SSL *ssl, const unsigned char *id, size_t size,
                      SSL_SESSION **session)
{
    static const unsigned char suite[] = {0x13, 0x01}, zero[1];

    (void)id;
    (void)size;
    *session = SSL_SESSION_new();
    return SSL_SESSION_set1_master_key(*session, zero, sizeof zero) == 1 &&
           SSL_SESSION_set_cipher(*session, SSL_CIPHER_find(ssl, suite)) == 1 &&
           SSL_SESSION_set_protocol_version(*session, TLS1_3_VERSION) == 1;
}

static SSL_CTX *context_of(enum rogue_kind kind)
{
    const int version =
        kind == ROGUE_DOWNGRADE ? TLS1_2_VERSION : TLS1_3_VERSION;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());

    assert_int_equal(SSL_CTX_set_min_proto_version(context, version), 1);
    assert_int_equal(SSL_CTX_set_max_proto_version(context, version), 1);
    if (kind == ROGUE_EMPTY_KEY)
        SSL_CTX_set_psk_find_session_callback(context, find_empty);
    else
        certify(context);
    return context;
}

static void *serve(void *argument)
{
    struct rogue *rogue = argument;
    SSL_CTX *context = context_of(rogue->kind);
    SSL *ssl = SSL_new(context);
    const int fd = accept(rogue->listener, NULL, NULL);
    char byte;

    if (fd >= 0) {
        (void)SSL_set_fd(ssl, fd);
        rogue->shook = SSL_accept(ssl) == 1;
        while (rogue->shook && SSL_read(ssl, &byte, 1) == 1)
            rogue->heard++;
        (void)close(fd);
    }
    SSL_free(ssl);
    SSL_CTX_free(context);
    return NULL;
}

void rogue_open(struct rogue *rogue, enum rogue_kind kind)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    socklen_t size = sizeof name;

    *rogue = (struct rogue){.kind = kind};
    rogue->listener = socket(AF_INET, SOCK_STREAM, 0);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(rogue->listener, (struct sockaddr *)&name, size), 0);
    assert_int_equal(listen(rogue->listener, 8), 0);
    assert_int_equal(
        getsockname(rogue->listener, (struct sockaddr *)&name, &size), 0);
    rogue->port = ntohs(name.sin_port);
    assert_int_equal(pthread_create(&rogue->thread, NULL, serve, rogue), 0);
}

void rogue_close(struct rogue *rogue)
{
    assert_int_equal(pthread_join(rogue->thread, NULL), 0);
    (void)close(rogue->listener);
}
