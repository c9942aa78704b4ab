#include "os/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/transfer.h"

#define PATH_SIZE 4096u

enum {
    CONNECT_TIMEOUT_S = 20,
    STALL_S = 30, /* Less than a byte a second for so long: give up. */
    HASH_BLOCK = 1 << 18,
    STATUS_WHOLE = 200,
    STATUS_PART = 206,
    STATUS_NO_RANGE = 416,
};

/* One transfer. */
struct fetch {
    const struct http_options *options;
    CURL *curl;
    char part[PATH_SIZE]; /* The file while it is not whole. */
    int fd;
    uint64_t start; /* Bytes asked to be left out. */
    char range[32]; /* The rest, as a request: "START-". */
    bool begun;
    int error; /* errno of a failed write. */
};

static void init_once(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* A server that does not know ranges sends everything again. */
static bool begin(struct fetch *fetch)
{
    long status = 0;

    fetch->begun = true;
    (void)curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    if (fetch->start > 0 && status != STATUS_PART) {
        fetch->start = 0;
        if (ftruncate(fetch->fd, 0) != 0 ||
            lseek(fetch->fd, 0, SEEK_SET) != 0) {
            fetch->error = errno;
            return false;
        }
    }
    return true;
}

static size_t on_bytes(char *data, size_t size, size_t count, void *context)
{
    struct fetch *const fetch = context;

    if (!fetch->begun && !begin(fetch))
        return 0;
    if (transfer_write_all(fetch->fd, data, size * count) != ERR_OK) {
        fetch->error = errno;
        return 0;
    }
    return size * count;
}

static int on_progress(void *context, curl_off_t total, curl_off_t now,
                       curl_off_t up_total, curl_off_t up_now)
{
    const struct fetch *const fetch = context;

    (void)up_total;
    (void)up_now;
    if (fetch->options->progress != NULL && now >= 0)
        fetch->options->progress(
            fetch->options->context, fetch->start + (uint64_t)now,
            total > 0 ? fetch->start + (uint64_t)total : 0);
    return 0;
}

static bool configure(struct fetch *fetch)
{
    CURL *const curl = fetch->curl;

    return curl_easy_setopt(curl, CURLOPT_URL, fetch->options->url) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                            (long)CONNECT_TIMEOUT_S) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)STALL_S) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_USERAGENT, "muster") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, fetch) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFODATA, fetch) == CURLE_OK &&
           (fetch->start == 0 ||
            curl_easy_setopt(curl, CURLOPT_RANGE, fetch->range) == CURLE_OK);
}

static enum err say_status(const struct fetch *fetch, long status,
                           struct why *why)
{
    const char *url = fetch->options->url;

    if (status == 401 || status == 403 || status == 407)
        return why_set(why, ERR_DENIED,
                       "%.300s: the server wants a login (HTTP %ld); fetch the "
                       "file in a browser and name it instead",
                       url, status);
    if (status == 404 || status == 410)
        return why_set(why, ERR_NOTFOUND,
                       "%.300s: not there (HTTP %ld); check the address", url,
                       status);
    return why_set(why, ERR_IO,
                   "%.300s: the server answered HTTP %ld; try again later", url,
                   status);
}

static enum err say_curl(const struct fetch *fetch, CURLcode code,
                         struct why *why)
{
    const char *url = fetch->options->url;
    long status = 0;

    if (fetch->error != 0)
        return file_write_failed(why, fetch->part, fetch->error);
    (void)curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return say_status(fetch, status, why);
    if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
        code == CURLE_COULDNT_RESOLVE_PROXY)
        return why_set(why, ERR_CLOSED,
                       "%.300s: cannot be reached (%s); is this machine "
                       "offline? A file fetched elsewhere works as well",
                       url, curl_easy_strerror(code));
    if (code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT)
        return why_set(why, ERR_UNKNOWN,
                       "%.300s: not an address of the web; it starts with "
                       "http:// or https://",
                       url);
    return why_set(why, ERR_CLOSED,
                   "%.300s: the transfer broke off (%s); run the command again "
                   "to carry on",
                   url, curl_easy_strerror(code));
}

/* A login page instead of data is a 200 to the protocol. */
static enum err check_type(const struct fetch *fetch, struct why *why)
{
    const char *type = NULL;
    const size_t size = strlen(fetch->options->path);

    (void)curl_easy_getinfo(fetch->curl, CURLINFO_CONTENT_TYPE, &type);
    if (type == NULL || strncmp(type, "text/html", 9) != 0 ||
        (size > 5 && strcmp(fetch->options->path + size - 5, ".html") == 0))
        return ERR_OK;
    (void)unlink(fetch->part);
    return why_set(why, ERR_DENIED,
                   "%.300s: a web page came instead of data; the server "
                   "probably wants a login, so fetch the file in a browser",
                   fetch->options->url);
}

static enum err transfer(struct fetch *fetch, struct why *why)
{
    enum err err = ERR_OK;
    CURLcode code;
    long status = 0;

    fetch->curl = curl_easy_init();
    if (fetch->curl == NULL || !configure(fetch)) {
        curl_easy_cleanup(fetch->curl);
        return why_set(why, ERR_NOMEM, "out of memory");
    }
    code = curl_easy_perform(fetch->curl);
    (void)curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_HTTP_RETURNED_ERROR && status == STATUS_NO_RANGE &&
        fetch->start > 0)
        err = ERR_STALE; /* Too much is there: another file's, perhaps. */
    else if (code != CURLE_OK)
        err = say_curl(fetch, code, why);
    else
        err = check_type(fetch, why);
    curl_easy_cleanup(fetch->curl);
    fetch->curl = NULL;
    return err;
}

static enum err hash_file(const char *path, struct http_report *report,
                          struct why *why)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *block = mem_new(HASH_BLOCK, 1);
    struct hasher hasher;
    ssize_t got = fd < 0 || block == NULL ? -1 : 1;

    hasher_init(&hasher);
    report->bytes = 0;
    while (got > 0) {
        got = read(fd, block, HASH_BLOCK);
        if (got > 0) {
            hasher_add(&hasher, block, (size_t)got);
            report->bytes += (uint64_t)got;
        }
    }
    report->sha256 = hasher_end(&hasher);
    mem_free(block);
    if (got < 0) {
        const int error = errno;

        if (fd >= 0)
            (void)close(fd);
        return file_read_failed(why, path, error);
    }
    (void)close(fd);
    return ERR_OK;
}

static enum err check_hash(const struct fetch *fetch,
                           const struct http_report *report, struct why *why)
{
    const struct digest *const wanted = fetch->options->sha256;
    char is[DIGEST_TEXT];
    char should[DIGEST_TEXT];

    if (wanted == NULL || digest_equal(wanted, &report->sha256))
        return ERR_OK;
    return why_set(why, ERR_MISMATCH,
                   "%.200s: SHA-256 is %s, expected %s; the file was not kept",
                   fetch->options->url, digest_text(&report->sha256, is),
                   digest_text(wanted, should));
}

/* Ask for what is missing, then look at the whole. */
static enum err fetch_part(struct fetch *fetch, struct http_report *report,
                           struct why *why)
{
    struct stat info;
    enum err err;

    fetch->fd =
        open(fetch->part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fetch->fd < 0 || fstat(fetch->fd, &info) != 0)
        return file_write_failed(why, fetch->part, errno);
    fetch->start = (uint64_t)info.st_size;
    /* Not curl's own way to resume, which fails if the server sends all. */
    (void)snprintf(fetch->range, sizeof fetch->range, "%llu-",
                   (unsigned long long)fetch->start);
    err = transfer(fetch, why);
    report->resumed_at = fetch->start;
    if (fstat(fetch->fd, &info) == 0 && info.st_size == 0 && err != ERR_OK)
        (void)unlink(fetch->part);
    if (close(fetch->fd) != 0 && err == ERR_OK)
        err = file_write_failed(why, fetch->part, errno);
    return err;
}

enum err http_download(const struct http_options *options,
                       struct http_report *report, struct why *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct fetch fetch = {.options = options, .fd = -1};
    struct http_report made = {0};
    enum err err;

    (void)pthread_once(&once, init_once);
    if (snprintf(fetch.part, sizeof fetch.part, "%s.part", options->path) >=
        (int)sizeof fetch.part)
        return file_write_failed(why, options->path, ENAMETOOLONG);
    err = fetch_part(&fetch, &made, why);
    if (err == ERR_STALE) {
        (void)unlink(fetch.part);
        fetch.begun = false;
        err = fetch_part(&fetch, &made, why);
    }
    if (err == ERR_OK)
        err = hash_file(fetch.part, &made, why);
    if (err == ERR_OK)
        err = check_hash(&fetch, &made, why);
    if (err == ERR_MISMATCH)
        (void)unlink(fetch.part);
    if (err != ERR_OK)
        return err;
    if (rename(fetch.part, options->path) != 0)
        return file_write_failed(why, options->path, errno);
    *report = made;
    return ERR_OK;
}
