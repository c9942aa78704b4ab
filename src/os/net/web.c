/*
 * web.c - HTTP requests with the answer in memory (libcurl): ranges of shared
 * data, metadata services.  A metadata service is asked without proxy and
 * redirects, because only one machine may answer for it.
 */
#include "os/net/web.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "os/net/web_parts.h"

enum {
    NEAR_CONNECT_MS = 1000,
    NEAR_MS = 2000,
    FAR_CONNECT_MS = 20000,
    STALL_S = 30, /* Less than a byte a second for so long: give up. */
};

struct web {
    CURL *curl;
    struct web_answer *answer; /* Being filled. */
    bool full;                 /* There was no room for all of it. */
    char range[48];
    char detail[CURL_ERROR_SIZE];
};

bool web_is_address(const char *text)
{
    return strncmp(text, "http://", 7) == 0 ||
           strncmp(text, "https://", 8) == 0;
}

static void init_once(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

CURL *web_handle(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, init_once);
    return curl_easy_init();
}

static bool is_sealed(const char *url)
{
    return strncmp(url, "https://", 8) == 0;
}

bool web_set_address(CURL *curl, const char *url)
{
    return curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR,
                            is_sealed(url) ? "https" : "http,https") ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_USERAGENT, "muster") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_S) ==
               CURLE_OK;
}

bool web_was_unsealed(CURLcode code, const char *url)
{
    return code == CURLE_UNSUPPORTED_PROTOCOL && is_sealed(url);
}

void web_hide_password(const char *url, char *shown, size_t capacity)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme == NULL ? url : scheme + 3;
    const char *end = host + strcspn(host, "/?#"), *at = end;
    const char *colon = memchr(host, ':', (size_t)(end - host));

    while (at > host && *at != '@')
        at--;
    if (*at == '@' && colon != NULL && colon < at)
        (void)snprintf(shown, capacity, "%.*s:***%s", (int)(colon - url), url,
                       at);
    else
        (void)snprintf(shown, capacity, "%s", url);
}

enum err web_new(struct web **web)
{
    struct web *made = mem_new(1, sizeof *made);

    if (made == NULL)
        return ERR_NOMEM;
    made->curl = web_handle();
    if (made->curl == NULL) {
        mem_free(made);
        return ERR_NOMEM;
    }
    *web = made;
    return ERR_OK;
}

void web_free(struct web *web)
{
    if (web == NULL)
        return;
    curl_easy_cleanup(web->curl);
    mem_free(web);
}

static size_t on_bytes(char *data, size_t size, size_t count, void *context)
{
    struct web *web = context;
    struct web_answer *answer = web->answer;
    const size_t bytes = size * count;

    if (bytes > answer->capacity - answer->size) {
        web->full = true;
        return 0;
    }
    memcpy(answer->bytes + answer->size, data, bytes);
    answer->size += bytes;
    return bytes;
}

/* A metadata server is one hop away; who answers for it through a proxy or
 * from elsewhere is not the one that was asked. */
static bool set_road(CURL *curl, bool near)
{
    const long redirects = near ? 0L : 1L;

    return curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, redirects) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROXY, near ? "*" : NULL) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                            (long)(near ? NEAR_CONNECT_MS : FAR_CONNECT_MS)) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                            near ? (long)NEAR_MS : 0L) == CURLE_OK;
}

static bool set_question(struct web *web, const struct web_question *question)
{
    CURL *const curl = web->curl;

    curl_easy_reset(curl);
    (void)snprintf(web->range, sizeof web->range, "%llu-%llu",
                   (unsigned long long)question->first,
                   (unsigned long long)(question->first + question->size - 1));
    return web_set_address(curl, question->url) &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, web) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, web->detail) ==
               CURLE_OK &&
           (question->ca == NULL ||
            curl_easy_setopt(curl, CURLOPT_CAINFO, question->ca) == CURLE_OK) &&
           (!question->put ||
            curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT") == CURLE_OK) &&
           (!question->range ||
            curl_easy_setopt(curl, CURLOPT_RANGE, web->range) == CURLE_OK) &&
           set_road(curl, question->near);
}

static bool set_headers(struct web *web, const struct web_question *question,
                        struct curl_slist **list)
{
    for (uint32_t i = 0; i < WEB_HEADERS; i++) {
        struct curl_slist *longer;

        if (question->headers[i] == NULL)
            continue;
        longer = curl_slist_append(*list, question->headers[i]);
        if (longer == NULL)
            return false;
        *list = longer;
    }
    return curl_easy_setopt(web->curl, CURLOPT_HTTPHEADER, *list) == CURLE_OK;
}

/* Who the server is cannot be known: wrong name, wrong authority, expired. */
static enum err distrust(const struct web *web, const char *url,
                         struct why *why)
{
    return why_set(why, ERR_DENIED,
                   "%.300s: its certificate is not to be trusted (%.200s); "
                   "--ca FILE names the authority that signed it",
                   url,
                   web->detail[0] != '\0' ? web->detail : "no reason given");
}

static enum err judge(const struct web *web, CURLcode code,
                      const struct web_question *question, struct why *why)
{
    char url[SHOWN_SIZE];

    if (code == CURLE_OK)
        return ERR_OK;
    web_hide_password(question->url, url, sizeof url);
    if (web->full)
        return why_set(why, ERR_TOOBIG,
                       "%.300s: the answer is longer than it should be", url);
    if (web_was_unsealed(code, question->url))
        return why_set(why, ERR_DENIED,
                       "%.300s: the server leads to an address without TLS",
                       url);
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT)
        return why_set(why, ERR_UNKNOWN,
                       "%.300s: not an address of the web; it starts with "
                       "http:// or https://",
                       url);
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return distrust(web, url, why);
    if (code == CURLE_SSL_CACERT_BADFILE)
        return why_set(why, ERR_FORMAT,
                       "--ca %.200s: holds no certificates (PEM), or cannot be "
                       "read",
                       question->ca != NULL ? question->ca : "");
    return why_set(why, ERR_CLOSED, "%.300s: no answer (%s)", url,
                   curl_easy_strerror(code));
}

enum err web_ask(struct web *web, const struct web_question *question,
                 struct web_answer *answer, struct why *why)
{
    struct curl_slist *headers = NULL;
    struct web_answer made = *answer;
    enum err err;

    made.size = 0;
    made.status = 0;
    web->answer = &made;
    web->full = false;
    if (set_question(web, question) && set_headers(web, question, &headers)) {
        web->detail[0] = '\0';
        err = judge(web, curl_easy_perform(web->curl), question, why);
        (void)curl_easy_getinfo(web->curl, CURLINFO_RESPONSE_CODE,
                                &made.status);
    } else {
        err = why_set(why, ERR_NOMEM, "out of memory");
    }
    curl_slist_free_all(headers);
    web->answer = NULL;
    if (err != ERR_OK)
        return err;
    if (made.size < made.capacity)
        made.bytes[made.size] = '\0';
    *answer = made;
    return ERR_OK;
}
