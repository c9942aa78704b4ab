/*
 * notice.c - preemption notices of spot instances: the metadata services of
 * three providers and a file for all others, one table row each.
 */
#include "os/net/notice.h"

#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/file/file.h"
#include "os/log.h"
#include "os/net/web.h"

#define FILE_KIND    "file:"
#define URL_SIZE     1024u
#define TOKEN_SIZE   256u
#define MACHINE_SIZE 256u
#define ANSWER_SIZE  65536u

enum {
    STATUS_OK = 200,
    STATUS_TOKEN = 401, /* Missing or too old. */
    STATUS_NONE = 404,
};

typedef bool (*notice_looker)(struct notice *notice, struct why *why);

struct provider {
    const char *name;
    const char *address;
    notice_looker look;
};

struct notice {
    const struct provider *provider; /* NULL: a file. */
    const char *path;                /* ... this one. */
    const char *address;
    struct web *web;
    char token[TOKEN_SIZE];  /* aws; empty = none yet. */
    char name[MACHINE_SIZE]; /* azure: of this machine; empty = not known. */
    char answer[ANSWER_SIZE];
};

/* ERR_OK whatever the status. */
static enum err ask(struct notice *notice, const char *path, bool put,
                    const char *header, long *status, struct why *why)
{
    char url[URL_SIZE];
    const struct web_question question = {
        .url = url, .put = put, .near = true, .headers = {header}};
    struct web_answer answer = {.bytes = (uint8_t *)notice->answer,
                                .capacity = ANSWER_SIZE - 1};
    enum err err;

    (void)snprintf(url, sizeof url, "%s%s", notice->address, path);
    notice->answer[0] = '\0';
    err = web_ask(notice->web, &question, &answer, why);
    if (err == ERR_OK) {
        notice->answer[answer.size] = '\0';
        *status = answer.status;
    }
    return err;
}

/* Anything but what the provider's book says is no notice. */
static bool odd(const struct notice *notice, long status, struct why *why)
{
    (void)why_set(why, ERR_IO, "%s answered HTTP %ld", notice->address, status);
    return false;
}

/* --- aws ------------------------------------------------------------------
 */

static bool aws_token(struct notice *notice, struct why *why)
{
    long status;

    if (ask(notice, "/latest/api/token", true,
            "X-aws-ec2-metadata-token-ttl-seconds: 21600", &status,
            why) != ERR_OK)
        return false;
    if (status != STATUS_OK || strlen(notice->answer) >= TOKEN_SIZE ||
        strcspn(notice->answer, "\r\n") != strlen(notice->answer))
        return odd(notice, status, why);
    (void)snprintf(notice->token, TOKEN_SIZE, "%.*s", (int)TOKEN_SIZE - 1,
                   notice->answer);
    return true;
}

static bool aws_look(struct notice *notice, struct why *why)
{
    char header[TOKEN_SIZE + 32];
    long status = STATUS_TOKEN;

    if (notice->token[0] == '\0' && !aws_token(notice, why))
        return false;
    (void)snprintf(header, sizeof header, "X-aws-ec2-metadata-token: %s",
                   notice->token);
    if (ask(notice, "/latest/meta-data/spot/instance-action", false, header,
            &status, why) != ERR_OK)
        return false;
    if (status == STATUS_TOKEN)
        notice->token[0] = '\0'; /* A new one at the next look. */
    if (status == STATUS_OK)
        return true;
    return status == STATUS_NONE || status == STATUS_TOKEN
               ? false
               : odd(notice, status, why);
}

/* --- gcp ------------------------------------------------------------------
 */

static bool gcp_look(struct notice *notice, struct why *why)
{
    long status;

    if (ask(notice, "/computeMetadata/v1/instance/preempted", false,
            "Metadata-Flavor: Google", &status, why) != ERR_OK)
        return false;
    if (status != STATUS_OK)
        return odd(notice, status, why);
    return strncmp(notice->answer, "TRUE", 4) == 0;
}

/* --- azure ----------------------------------------------------------------
 */

/* The events of a whole scale set are told to all of its machines. */
static bool azure_name(struct notice *notice, struct why *why)
{
    long status;

    if (ask(notice,
            "/metadata/instance/compute/name?api-version=2021-02-01"
            "&format=text",
            false, "Metadata: true", &status, why) != ERR_OK)
        return false;
    if (status != STATUS_OK)
        return odd(notice, status, why);
    (void)snprintf(notice->name, MACHINE_SIZE, "%.*s", (int)MACHINE_SIZE - 1,
                   notice->answer);
    return true;
}

static bool is_ours(const struct notice *notice, const json_t *event)
{
    const json_t *names = json_object_get(event, "Resources");
    size_t i;
    const json_t *name;

    if (notice->name[0] == '\0' || json_array_size(names) == 0)
        return true;
    json_array_foreach(names, i, name)
    {
        if (json_is_string(name) &&
            strcmp(json_string_value(name), notice->name) == 0)
            return true;
    }
    return false;
}

static bool takes_away(const json_t *event)
{
    const char *type = json_string_value(json_object_get(event, "EventType"));

    return type != NULL &&
           (strcmp(type, "Preempt") == 0 || strcmp(type, "Terminate") == 0);
}

static bool azure_told(const struct notice *notice, json_t *answer)
{
    size_t i;
    const json_t *event;

    json_array_foreach(json_object_get(answer, "Events"), i, event)
    {
        if (takes_away(event) && is_ours(notice, event))
            return true;
    }
    return false;
}

static bool azure_look(struct notice *notice, struct why *why)
{
    json_t *answer;
    long status;
    bool told;

    if (notice->name[0] == '\0' && !azure_name(notice, why))
        return false;
    if (ask(notice, "/metadata/scheduledevents?api-version=2020-07-01", false,
            "Metadata: true", &status, why) != ERR_OK)
        return false;
    if (status != STATUS_OK)
        return odd(notice, status, why);
    answer = json_loads(notice->answer, 0, NULL);
    if (answer == NULL)
        return odd(notice, status, why);
    told = azure_told(notice, answer);
    json_decref(answer);
    return told;
}

/* --- all ------------------------------------------------------------------
 */

static const struct provider providers[] = {
    {"aws", "http://169.254.169.254", aws_look},
    {"gcp", "http://metadata.google.internal", gcp_look},
    {"azure", "http://169.254.169.254", azure_look},
};

static const struct provider *provider_find(const char *name)
{
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++) {
        if (strcmp(providers[i].name, name) == 0)
            return &providers[i];
    }
    return NULL;
}

static const char *file_of(const char *kind)
{
    const size_t size = strlen(FILE_KIND);

    return strncmp(kind, FILE_KIND, size) == 0 && kind[size] != '\0'
               ? kind + size
               : NULL;
}

enum err notice_check(const struct notice_options *options, struct why *why)
{
    if (options->kind == NULL && options->address != NULL)
        return why_set(why, ERR_RANGE,
                       "--preempt-address: whom to ask there? add "
                       "--preempt-notice aws, gcp or azure");
    if (options->kind == NULL)
        return ERR_OK;
    if (provider_find(options->kind) == NULL && file_of(options->kind) == NULL)
        return why_set(why, ERR_RANGE,
                       "--preempt-notice %.80s: say aws, gcp, azure or "
                       "file:PATH",
                       options->kind);
    if (options->address == NULL)
        return ERR_OK;
    if (file_of(options->kind) != NULL)
        return why_set(why, ERR_RANGE,
                       "--preempt-address: a file has no address; leave it "
                       "out");
    if (!web_is_address(options->address) ||
        strlen(options->address) > URL_SIZE / 2)
        return why_set(why, ERR_RANGE,
                       "--preempt-address %.80s: an address starts with "
                       "http:// or https://",
                       options->address);
    return ERR_OK;
}

enum err notice_new(const struct notice_options *options,
                    struct notice **notice)
{
    struct notice *made = mem_new(1, sizeof *made);
    enum err err = made == NULL ? ERR_NOMEM : ERR_OK;

    CHECK(options->kind != NULL);
    if (err != ERR_OK)
        return err;
    made->path = file_of(options->kind);
    made->provider = provider_find(options->kind);
    CHECK((made->path == NULL) != (made->provider == NULL));
    if (made->provider != NULL) {
        made->address = options->address != NULL ? options->address
                                                 : made->provider->address;
        err = web_new(&made->web);
    }
    if (err == ERR_OK)
        *notice = made;
    else
        notice_free(made);
    return err;
}

void notice_free(struct notice *notice)
{
    if (notice == NULL)
        return;
    web_free(notice->web);
    mem_free(notice);
}

bool notice_look(struct notice *notice, struct why *why)
{
    why->text[0] = '\0';
    if (notice->path != NULL)
        return file_exists(notice->path);
    return notice->provider->look(notice, why);
}

void notice_await(struct notice *notice)
{
    const int pause_ms = (int)(NOTICE_EVERY_US / MS_US);
    struct why why = {0};
    bool said = false;

    while (!notice_look(notice, &why)) {
        if (why.text[0] != '\0' && !said)
            log_line("the spot notice cannot be asked for: %s; still trying",
                     why.text);
        said = why.text[0] != '\0';
        (void)poll(NULL, 0, pause_ms);
    }
}
