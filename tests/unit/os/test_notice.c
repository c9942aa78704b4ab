/*
 * Spot notices and small questions over HTTP: a server on loopback gives the
 * answers that a test lays out for it, one for each connection, and keeps what
 * it was asked.  Whole runs that are told to go are in tests/net/spot.py.
 */
#include "os/net/notice.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/file/file.h"
#include "os/net/web.h"

#define ASKED_MAX  8u
#define ASKED_SIZE 2048u

/* An answer of that status, which ends the connection. */
#define ANSWER(status, body)                                                   \
    "HTTP/1.1 " status "\r\nConnection: close\r\n\r\n" body

struct server {
    int listener;
    char address[64];
    const char *const *answers;
    uint32_t count;
    char asked[ASKED_MAX][ASKED_SIZE];
    pthread_t thread;
};

static void serve_one(struct server *server, uint32_t i)
{
    const int fd = accept(server->listener, NULL, NULL);
    size_t size = 0;

    if (fd < 0)
        return;
    while (size + 1 < ASKED_SIZE &&
           strstr(server->asked[i], "\r\n\r\n") == NULL) {
        const ssize_t got =
            read(fd, server->asked[i] + size, ASKED_SIZE - 1 - size);

        if (got <= 0)
            break;
        size += (size_t)got;
    }
    if (write(fd, server->answers[i], strlen(server->answers[i])) > 0)
        (void)shutdown(fd, SHUT_RDWR);
    (void)close(fd);
}

static void *serve(void *context)
{
    struct server *server = context;

    for (uint32_t i = 0; i < server->count; i++)
        serve_one(server, i);
    return NULL;
}

static void server_open(struct server *server, const char *const *answers,
                        uint32_t count)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;

    *server = (struct server){.answers = answers, .count = count};
    assert_true(count <= ASKED_MAX);
    server->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(server->listener, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(server->listener, 8), 0);
    assert_int_equal(
        getsockname(server->listener, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(server->address, sizeof server->address,
                   "http://127.0.0.1:%u", ntohs(at.sin_port));
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

/* All that was laid out was asked for. */
static void server_close(struct server *server)
{
    assert_int_equal(pthread_join(server->thread, NULL), 0);
    (void)close(server->listener);
}

static struct notice *notice_of(const char *kind, const char *address)
{
    static struct notice_options options; /* It must outlive the notice. */
    struct notice *notice;

    options = (struct notice_options){.kind = kind, .address = address};
    assert_int_equal(notice_check(&options, NULL), ERR_OK);
    assert_int_equal(notice_new(&options, &notice), ERR_OK);
    return notice;
}

static void assert_asked(const struct server *server, uint32_t i,
                         const char *what)
{
    if (strstr(server->asked[i], what) == NULL)
        fail_msg("question %u was not '%s' but '%s'", i, what,
                 server->asked[i]);
}

/* A token first; one that is too old is no notice, and fetched anew. */
static void test_aws_renews_its_token(void **state)
{
    static const char *const answers[] = {
        ANSWER("200 OK", "abc"),
        ANSWER("404 Not Found", ""),
        ANSWER("401 Unauthorized", ""),
        ANSWER("200 OK", "def"),
        ANSWER("200 OK", "{\"action\": \"terminate\"}"),
    };
    struct server server;
    struct notice *notice;
    struct why why;

    (void)state;
    server_open(&server, answers, 5);
    notice = notice_of("aws", server.address);
    assert_false(notice_look(notice, &why));
    assert_string_equal(why.text, "");
    assert_false(notice_look(notice, &why));
    assert_string_equal(why.text, "");
    assert_true(notice_look(notice, &why));
    server_close(&server);
    assert_asked(&server, 0, "PUT /latest/api/token ");
    assert_asked(&server, 0, "ttl-seconds: 21600");
    assert_asked(&server, 1, "GET /latest/meta-data/spot/instance-action ");
    assert_asked(&server, 1, "X-aws-ec2-metadata-token: abc\r\n");
    assert_asked(&server, 2, "X-aws-ec2-metadata-token: abc\r\n");
    assert_asked(&server, 3, "PUT /latest/api/token ");
    assert_asked(&server, 4, "X-aws-ec2-metadata-token: def\r\n");
    notice_free(notice);
}

/* Whatever is not in the provider's book is no notice, and said. */
static void test_odd_answers_are_no_notice(void **state)
{
    static const char *const token_of_two_lines[] = {
        ANSWER("200 OK", "abc\r\nX-Evil: 1")};
    static const char *const broken[] = {ANSWER("200 OK", "abc"),
                                         ANSWER("500 Broken", "")};
    static const char *const busy[] = {ANSWER("503 Busy", "TRUE")};
    static const struct {
        const char *kind;
        const char *const *answers;
        uint32_t count;
        const char *why;
    } cases[] = {
        {"aws", token_of_two_lines, 1, "HTTP 200"},
        {"aws", broken, 2, "HTTP 500"},
        {"gcp", busy, 1, "HTTP 503"},
        {"azure", busy, 1, "HTTP 503"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct server server;
        struct notice *notice;
        struct why why;

        server_open(&server, cases[i].answers, cases[i].count);
        notice = notice_of(cases[i].kind, server.address);
        assert_false(notice_look(notice, &why));
        assert_non_null(strstr(why.text, cases[i].why));
        assert_non_null(strstr(why.text, server.address));
        server_close(&server);
        notice_free(notice);
    }
}

static void test_gcp_says_true(void **state)
{
    static const char *const answers[] = {ANSWER("200 OK", "FALSE"),
                                          ANSWER("200 OK", "TRUE")};
    struct server server;
    struct notice *notice;
    struct why why;

    (void)state;
    server_open(&server, answers, 2);
    notice = notice_of("gcp", server.address);
    assert_false(notice_look(notice, &why));
    assert_string_equal(why.text, "");
    assert_true(notice_look(notice, &why));
    server_close(&server);
    assert_asked(&server, 0, "Metadata-Flavor: Google\r\n");
    notice_free(notice);
}

/* Events of the whole set are told to all its machines. */
static void test_azure_means_this_machine(void **state)
{
    static const char *const answers[] = {
        ANSWER("200 OK", "vm1"),
        ANSWER("200 OK", "{\"Events\": []}"),
        ANSWER("200 OK", "{\"Events\": [{\"EventType\": \"Preempt\", "
                         "\"Resources\": [\"vm2\", 7]}]}"),
        ANSWER("200 OK", "{\"Events\": [{\"EventType\": \"Freeze\", "
                         "\"Resources\": [\"vm1\"]}, {\"EventType\": 3}]}"),
        ANSWER("200 OK", "{\"Events\": [oh"),
        ANSWER("200 OK", "{\"Events\": [{\"EventType\": \"Preempt\", "
                         "\"Resources\": [\"vm2\", \"vm1\"]}]}"),
        ANSWER("200 OK", "{\"Events\": [{\"EventType\": \"Terminate\"}]}"),
    };
    struct server server;
    struct notice *notice;
    struct why why;

    (void)state;
    server_open(&server, answers, 7);
    notice = notice_of("azure", server.address);
    for (int i = 0; i < 3; i++) {
        assert_false(notice_look(notice, &why));
        assert_string_equal(why.text, "");
    }
    assert_false(notice_look(notice, &why));
    assert_string_not_equal(why.text, "");
    assert_true(notice_look(notice, &why));
    assert_true(notice_look(notice, &why));
    server_close(&server);
    assert_asked(&server, 0, "GET /metadata/instance/compute/name?");
    assert_asked(&server, 1, "GET /metadata/scheduledevents?");
    assert_asked(&server, 1, "Metadata: true\r\n");
    notice_free(notice);
}

static void test_a_file_is_a_notice(void **state)
{
    struct notice *notice = notice_of("file:taken", NULL);
    struct why why;

    (void)state;
    assert_false(notice_look(notice, &why));
    assert_int_equal(file_write_atomic("taken", "", 0, 0600, NULL), ERR_OK);
    assert_true(notice_look(notice, &why));
    notice_await(notice); /* Returns at once. */
    file_remove("taken");
    notice_free(notice);
}

/* Nobody listens: no notice, and a sentence. */
static void test_no_answer_is_no_notice(void **state)
{
    static const char *const hangs_up[] = {""};
    struct server server;
    struct notice *notice;
    struct why why;

    (void)state;
    server_open(&server, hangs_up, 1);
    notice = notice_of("gcp", server.address);
    assert_false(notice_look(notice, &why));
    assert_string_not_equal(why.text, "");
    server_close(&server);
    assert_false(notice_look(notice, &why));
    assert_string_not_equal(why.text, "");
    notice_free(notice);
}

static void test_what_the_user_typed(void **state)
{
    static const struct {
        struct notice_options options;
        const char *why; /* NULL: fine. */
    } cases[] = {
        {{NULL, NULL}, NULL},
        {{"aws", NULL}, NULL},
        {{"azure", "http://127.0.0.1:1"}, NULL},
        {{"file:x", NULL}, NULL},
        {{NULL, "http://127.0.0.1:1"}, "add --preempt-notice"},
        {{"ibm", NULL}, "say aws, gcp, azure"},
        {{"file:", NULL}, "say aws, gcp, azure"},
        {{"file:x", "http://127.0.0.1:1"}, "no address"},
        {{"gcp", "127.0.0.1"}, "starts with http"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct why why = {0};
        const enum err err = notice_check(&cases[i].options, &why);

        assert_int_equal(err, cases[i].why == NULL ? ERR_OK : ERR_RANGE);
        if (cases[i].why != NULL)
            assert_non_null(strstr(why.text, cases[i].why));
    }
}

/* --- questions -------------------------------------------------------------
 */

static void test_a_range_is_asked_for(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\n"
        "Connection: close\r\n\r\nwxyz",
        ANSWER("200 OK", "more than four"),
    };
    uint8_t bytes[5];
    struct web_answer answer = {.bytes = bytes, .capacity = 4};
    struct web_question question = {.range = true, .first = 6, .size = 4};
    struct why why = {0};
    struct server server;
    struct web *web;

    (void)state;
    server_open(&server, answers, 2);
    question.url = server.address;
    assert_int_equal(web_new(&web), ERR_OK);
    assert_int_equal(web_ask(web, &question, &answer, &why), ERR_OK);
    assert_int_equal(answer.status, 206);
    assert_int_equal(answer.size, 4);
    assert_memory_equal(bytes, "wxyz", 4);
    question.range = false;
    assert_int_equal(web_ask(web, &question, &answer, &why), ERR_TOOBIG);
    server_close(&server);
    assert_asked(&server, 0, "Range: bytes=6-9\r\n");
    assert_null(strstr(server.asked[1], "Range:"));
    web_free(web);
}

static void test_only_addresses_of_the_web(void **state)
{
    static const char *const others[] = {"file:///x", "ftp://127.0.0.1/x",
                                         "folder/x"};
    uint8_t bytes[64];
    struct web_answer answer = {.bytes = bytes, .capacity = sizeof bytes};
    struct web *web;

    (void)state;
    assert_int_equal(web_new(&web), ERR_OK);
    for (size_t i = 0; i < 3; i++) {
        const struct web_question question = {.url = others[i]};
        struct why why = {0};

        assert_false(web_is_address(others[i]));
        assert_int_not_equal(web_ask(web, &question, &answer, &why), ERR_OK);
        assert_string_not_equal(why.text, "");
    }
    assert_true(web_is_address("https://example.org/x"));
    web_free(web);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aws_renews_its_token),
        cmocka_unit_test(test_odd_answers_are_no_notice),
        cmocka_unit_test(test_gcp_says_true),
        cmocka_unit_test(test_azure_means_this_machine),
        cmocka_unit_test(test_a_file_is_a_notice),
        cmocka_unit_test(test_no_answer_is_no_notice),
        cmocka_unit_test(test_what_the_user_typed),
        cmocka_unit_test(test_a_range_is_asked_for),
        cmocka_unit_test(test_only_addresses_of_the_web),
    };

    return cmocka_run_group_tests_name("notice", tests, NULL, NULL);
}
