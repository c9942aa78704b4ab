/*
 * eye.c - sees what a process says and hears before it is encrypted and after
 * it was decrypted: loaded in front of OpenSSL, for tests/net/lib/eye.py.
 *
 * EYE names a folder; what is said goes into sent.PID, what is heard into
 * heard.PID.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void keep(const char *what, const void *data, size_t size)
{
    char path[4096];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s.%d", getenv("EYE"), what,
                   (int)getpid());
    file = fopen(path, "a");
    if (file == NULL)
        abort();
    (void)fwrite(data, 1, size, file);
    (void)fclose(file);
}

int SSL_write_ex(SSL *ssl, const void *data, size_t size, size_t *written)
{
    int (*next)(SSL *, const void *, size_t, size_t *) =
        dlsym(RTLD_NEXT, "SSL_write_ex");

    keep("sent", data, size);
    return next(ssl, data, size, written);
}

int SSL_read_ex(SSL *ssl, void *data, size_t size, size_t *got)
{
    int (*next)(SSL *, void *, size_t, size_t *) =
        dlsym(RTLD_NEXT, "SSL_read_ex");
    const int result = next(ssl, data, size, got);

    if (result == 1)
        keep("heard", data, *got);
    return result;
}
