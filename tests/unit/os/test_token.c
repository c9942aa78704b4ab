/*
 * Token files: what is written is read, what is not private or not a token is
 * refused, and keys derive as the header says (checked against an HKDF written
 * out with HMAC).
 */
#include "os/net/token.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/file/file.h"

static int cleanup(void **state)
{
    (void)state;
    (void)unlink("token.c");
    (void)unlink("token.w");
    (void)unlink("token.x");
    return 0;
}

static void test_cluster_and_worker(void **state)
{
    struct token cluster, worker;
    uint8_t key[TOKEN_KEY_BYTES];
    struct stat info;
    struct why why = {0};

    (void)state;
    assert_int_equal(token_new("token.c", NULL, NULL, &why), ERR_OK);
    assert_int_equal(stat("token.c", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(token_load("token.c", true, &cluster, &why), ERR_OK);
    assert_true(token_is_cluster(&cluster));
    assert_int_equal(token_new("token.w", "w7", "token.c", &why), ERR_OK);
    assert_int_equal(token_load("token.w", false, &worker, &why), ERR_OK);
    assert_string_equal(worker.name, "w7");
    assert_false(token_is_cluster(&worker));
    assert_true(token_key_of(&cluster, "w7", key));
    assert_memory_equal(key, worker.key, sizeof key);
    assert_true(token_key_of(&cluster, "w8", key));
    assert_memory_not_equal(key, worker.key, sizeof key);
    assert_false(token_key_of(&cluster, "w 8", key));
    assert_false(token_key_of(&cluster, "", key));

    assert_int_equal(token_new("token.x", "cluster", "token.c", &why),
                     ERR_FORMAT);
    assert_int_equal(symlink("token.x", "token.link"), 0);
    assert_int_equal(token_new("token.link", NULL, NULL, &why), ERR_EXISTS);
    assert_int_equal(unlink("token.link"), 0);
    assert_false(file_exists("token.x"));
    assert_int_equal(token_load("token.w", true, &worker, &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "relays need the cluster token"));
    token_close(&cluster);
    for (size_t i = 0; i < sizeof cluster.key; i++)
        assert_int_equal(cluster.key[i], 0);
}

/* RFC 5869 with an empty salt and one block. */
static void hkdf_ref(const uint8_t *key, const char *info, uint8_t *out)
{
    static const uint8_t salt[32];
    uint8_t prk[32], block[128];
    const size_t size = strlen(info);
    unsigned got;

    HMAC(EVP_sha256(), salt, sizeof salt, key, 32, prk, &got);
    (void)snprintf((char *)block, sizeof block, "%s", info);
    block[size] = 1;
    HMAC(EVP_sha256(), prk, sizeof prk, block, size + 1, out, &got);
}

static void test_derivation(void **state)
{
    const struct token cluster = {.name = "cluster", .key = {9, 8, 7}};
    uint8_t key[TOKEN_KEY_BYTES], wanted[TOKEN_KEY_BYTES];

    (void)state;
    assert_true(token_key_of(&cluster, "node-3.rack_2", key));
    hkdf_ref(cluster.key, "muster worker node-3.rack_2", wanted);
    assert_memory_equal(key, wanted, sizeof key);
    assert_true(token_key_of(&cluster, "cluster", key));
    assert_memory_equal(key, cluster.key, sizeof key);
}

static void test_refusals(void **state)
{
    struct token token;
    struct why why = {0};

    (void)state;
    assert_int_equal(token_new("token.c", NULL, NULL, &why), ERR_OK);
    assert_int_equal(token_new("token.c", NULL, NULL, &why), ERR_EXISTS);
    assert_int_equal(token_new("token.w", "w1", NULL, &why), ERR_NOTFOUND);
    assert_int_equal(token_new("token.w", "w/1", "token.c", &why), ERR_FORMAT);
    assert_int_equal(token_new("token.w", "w1", "token.c", &why), ERR_OK);
    assert_int_equal(token_new("token.x", "w2", "token.w", &why), ERR_DENIED);
    assert_int_equal(chmod("token.c", 0644), 0);
    assert_int_equal(token_load("token.c", true, &token, &why), ERR_DENIED);
    assert_int_equal(token_load("token.no", true, &token, &why), ERR_NOTFOUND);
}

static void check_text(const char *text, enum err wanted)
{
    struct token token;
    struct why why = {0};
    FILE *file = fopen("token.x", "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod("token.x", 0600), 0);
    assert_int_equal(token_load("token.x", false, &token, &why), wanted);
    /* Never the secret in a sentence (S4). */
    assert_null(strstr(why.text, "aaaaaaaa"));
}

#define A16 "aaaaaaaaaaaaaaaa"
#define A64 A16 A16 A16 A16

static void test_malformed(void **state)
{
    (void)state;
    check_text("muster-token-1 w1 " A64 "\n", ERR_OK);
    check_text("muster-token-1 w1 " A64, ERR_OK);
    check_text("", ERR_FORMAT);
    check_text("muster-token-2 w1 " A64 "\n", ERR_FORMAT);
    check_text("muster-token-1 w1 " A64 "a\n", ERR_FORMAT);
    check_text("muster-token-1 w1 " A64 "\n\n", ERR_FORMAT);
    check_text("muster-token-1 w1 " A16 "\n", ERR_FORMAT);
    check_text("muster-token-1  " A64 "\n", ERR_FORMAT);
    check_text("muster-token-1 w%1 " A64 "\n", ERR_FORMAT);
    check_text("muster-token-1 " A64 A16 " " A64 "\n", ERR_FORMAT);
    check_text("muster-token-1 w1 " A16 A16 A16 "aaaaaaaaaaaaaaag\n",
               ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_cluster_and_worker, cleanup),
        cmocka_unit_test_teardown(test_derivation, cleanup),
        cmocka_unit_test_teardown(test_refusals, cleanup),
        cmocka_unit_test_teardown(test_malformed, cleanup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
