/*
 * http.c - a resumable download by libcurl.  A part is carried on with only if
 * it is from the same address and the same version of the file (ETag,
 * Last-Modified); the file appears once its SHA-256 is right.
 */
#include "os/net/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file/file.h"
#include "os/file/output.h"
#include "os/net/web_parts.h"
#include "os/transfer.h"

#define PATH_SIZE   4096u
#define SEAL_SIZE   256u
#define ORIGIN_SIZE 4096u

enum {
    CONNECT_TIMEOUT_S = 20,
    HASH_BLOCK = 1 << 18,
    STATUS_WHOLE = 200,
    STATUS_PART = 206,
    STATUS_NO_RANGE = 416,
    LENGTH_DIGITS = 18, /* Of lengths that fit 63 bits. */
};

/* One transfer. */
struct fetch {
    const struct http_options *options;
    CURL *curl;
    char shown[SHOWN_SIZE]; /* Its address, for messages. */
    char target[PATH_SIZE]; /* The file, links followed. */
    char part[PATH_SIZE];   /* The file while it is not whole, ... */
    char origin[PATH_SIZE]; /* ... and where that is from. */
    int fd;
    uint64_t start; /* Bytes asked to be left out. */
    char range[32]; /* The rest, as a request: "START-". */
    struct curl_slist *headers;
    char had[SEAL_SIZE];  /* What the part is of: "": not known. */
    char etag[SEAL_SIZE]; /* As this answer says; "": nothing. */
    char date[SEAL_SIZE];
    bool other;   /* It goes on with another file than was begun. */
    bool endless; /* It promises more bytes than there are numbers. */
    bool begun;
    int error; /* errno of a failed write. */
};

/* The value of the header `name`, if this is it. */
static void take_header(const char *line, size_t size, const char *name,
                        char value[SEAL_SIZE])
{
    const size_t length = strlen(name);

    if (size <= length || strncasecmp(line, name, length) != 0)
        return;
    line += length;
    size -= length;
    while (size > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        size--;
    }
    while (size > 0 && (line[size - 1] == '\r' || line[size - 1] == '\n' ||
                        line[size - 1] == ' '))
        size--;
    (void)snprintf(value, SEAL_SIZE, "%.*s", size < SEAL_SIZE ? (int)size : 0,
                   line);
}

/* libcurl passes over a length that it cannot hold, and then takes whatever
 * comes for the whole. */
static bool is_endless(const char *length)
{
    const size_t digits = strspn(length, "0123456789");

    return length[strspn(length, "0")] != '\0' &&
           digits - strspn(length, "0") > LENGTH_DIGITS;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    struct fetch *const fetch = context;
    char length[SEAL_SIZE] = "";

    if (strncmp(line, "HTTP/", size * count < 5 ? size * count : 5) == 0)
        fetch->etag[0] = fetch->date[0] = '\0'; /* After a redirection. */
    take_header(line, size * count, "etag:", fetch->etag);
    take_header(line, size * count, "last-modified:", fetch->date);
    take_header(line, size * count, "content-length:", length);
    fetch->endless = is_endless(length);
    return fetch->endless ? 0 : size * count;
}

/* What tells this version of the file from others, to the byte.  "": nothing
 * does; a weak ETag (W/) is of all that mean the same. */
static const char *seal_of(const struct fetch *fetch)
{
    return fetch->etag[0] == '"' ? fetch->etag : fetch->date;
}

/* The part is worth something only with a word on what it is of. */
static bool note_origin(const struct fetch *fetch)
{
    char text[ORIGIN_SIZE];
    const int size = snprintf(text, sizeof text, "%s\n%s\n",
                              fetch->options->url, seal_of(fetch));

    if (seal_of(fetch)[0] == '\0' || size >= (int)sizeof text) {
        file_remove(fetch->origin);
        return true;
    }
    return file_write_atomic(fetch->origin, text, (size_t)size, 0600, NULL) ==
           ERR_OK;
}

/* The seal of the part, if it is from the same address. */
static void read_origin(struct fetch *fetch)
{
    const size_t length = strlen(fetch->options->url);
    uint8_t *bytes;
    size_t size;
    const char *text;

    fetch->had[0] = '\0';
    if (file_read_plain(fetch->origin, ORIGIN_SIZE, &bytes, &size, NULL) !=
        ERR_OK)
        return;
    text = (const char *)bytes;
    if (strncmp(text, fetch->options->url, length) == 0 && text[length] == '\n')
        take_header(text + length, strlen(text + length), "\n", fetch->had);
    mem_free(bytes);
}

/* A server that does not know ranges sends everything again, and so does one
 * that has another file by now. */
static bool begin(struct fetch *fetch)
{
    long status = 0;

    fetch->begun = true;
    (void)curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    fetch->other = fetch->start > 0 && status == STATUS_PART &&
                   strcmp(seal_of(fetch), fetch->had) != 0;
    if (fetch->other)
        return false;
    if (fetch->start == 0 || status != STATUS_PART)
        (void)note_origin(fetch);
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

    return web_set_address(curl, fetch->options->url) &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                            (long)CONNECT_TIMEOUT_S) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERDATA, fetch) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fetch->headers) ==
               CURLE_OK &&
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
    const char *url = fetch->shown;

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
    const char *url = fetch->shown;
    long status = 0;

    if (fetch->error != 0)
        return file_write_failed(why, fetch->part, fetch->error);
    if (fetch->endless)
        return why_set(why, ERR_TOOBIG,
                       "%.300s: the server promises more bytes than a file can "
                       "have; is it the right address?",
                       url);
    (void)curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return say_status(fetch, status, why);
    if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
        code == CURLE_COULDNT_RESOLVE_PROXY)
        return why_set(why, ERR_CLOSED,
                       "%.300s: cannot be reached (%s); is this machine "
                       "offline? A file fetched elsewhere works as well",
                       url, curl_easy_strerror(code));
    if (web_was_unsealed(code, fetch->options->url))
        return why_set(why, ERR_DENIED,
                       "%.300s: the server leads to an address without TLS; "
                       "if that is right, give that address",
                       url);
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

static void drop_part(const struct fetch *fetch)
{
    (void)unlink(fetch->part);
    (void)unlink(fetch->origin);
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
    drop_part(fetch);
    return why_set(why, ERR_DENIED,
                   "%.300s: a web page came instead of data; the server "
                   "probably wants a login, so fetch the file in a browser",
                   fetch->shown);
}

/* The rest, but all of it if it is no longer the same file. */
static bool condition(struct fetch *fetch)
{
    char line[SEAL_SIZE + 16];

    if (fetch->start == 0)
        return true;
    (void)snprintf(line, sizeof line, "If-Range: %s", fetch->had);
    fetch->headers = curl_slist_append(NULL, line);
    return fetch->headers != NULL;
}

static enum err transfer(struct fetch *fetch, struct why *why)
{
    enum err err = ERR_OK;
    CURLcode code;
    long status = 0;

    fetch->curl = web_handle();
    if (fetch->curl == NULL || !condition(fetch) || !configure(fetch)) {
        curl_easy_cleanup(fetch->curl);
        curl_slist_free_all(fetch->headers);
        return why_set(why, ERR_NOMEM, "out of memory");
    }
    code = curl_easy_perform(fetch->curl);
    (void)curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    if (fetch->other || (code == CURLE_HTTP_RETURNED_ERROR &&
                         status == STATUS_NO_RANGE && fetch->start > 0))
        err = ERR_STALE; /* Too much is there: another file's, perhaps. */
    else if (code != CURLE_OK)
        err = say_curl(fetch, code, why);
    else
        err = check_type(fetch, why);
    curl_easy_cleanup(fetch->curl);
    curl_slist_free_all(fetch->headers);
    fetch->curl = NULL;
    fetch->headers = NULL;
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
                   fetch->shown, digest_text(&report->sha256, is),
                   digest_text(wanted, should));
}

/* Its size counts from now on; closed again unless all is well. */
static enum err look_at_part(struct fetch *fetch, struct stat *info,
                             struct why *why)
{
    enum err err = ERR_OK;

    if (fetch->fd < 0)
        return file_write_failed(why, fetch->part, errno);
    if (fstat(fetch->fd, info) != 0)
        err = file_write_failed(why, fetch->part, errno);
    else if (!S_ISREG(info->st_mode))
        err = why_set(why, ERR_DENIED, "%s: not a plain file", fetch->part);
    if (err != ERR_OK)
        (void)close(fetch->fd);
    return err;
}

/* The part so far, if it is from this address and nobody but us can have
 * written to it; else a new one. */
static enum err open_part(struct fetch *fetch, struct stat *info,
                          struct why *why)
{
    const int flags =
        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    enum err err;

    fetch->fd = open(fetch->part, flags, 0644);
    err = look_at_part(fetch, info, why);
    if (err != ERR_OK)
        return err;
    if (fetch->had[0] != '\0' && info->st_uid == geteuid() &&
        (info->st_mode & (S_IWGRP | S_IWOTH)) == 0)
        return ERR_OK;
    (void)close(fetch->fd);
    (void)unlink(fetch->part);
    fetch->fd = open(fetch->part, flags | O_EXCL, 0644);
    return look_at_part(fetch, info, why);
}

/* Ask for what is missing, then look at the whole. */
static enum err fetch_part(struct fetch *fetch, struct http_report *report,
                           struct why *why)
{
    struct stat info = {0};
    enum err err;

    read_origin(fetch);
    fetch->begun = false;
    err = open_part(fetch, &info, why);
    if (err != ERR_OK)
        return err;
    fetch->start = (uint64_t)info.st_size;
    /* Not curl's own way to resume, which fails if the server sends all. */
    (void)snprintf(fetch->range, sizeof fetch->range, "%llu-",
                   (unsigned long long)fetch->start);
    err = transfer(fetch, why);
    report->resumed_at = fetch->start;
    if (fstat(fetch->fd, &info) == 0 && info.st_size == 0 && err != ERR_OK)
        drop_part(fetch);
    if (close(fetch->fd) != 0 && err == ERR_OK)
        err = file_write_failed(why, fetch->part, errno);
    return err;
}

/* The names of the files. */
static enum err choose_names(struct fetch *fetch, struct why *why)
{
    const char *path = fetch->options->path;
    enum err err = output_target(path, fetch->target, PATH_SIZE, why);

    if (err == ERR_OK && (snprintf(fetch->part, PATH_SIZE, "%s.part",
                                   fetch->target) >= (int)PATH_SIZE ||
                          snprintf(fetch->origin, PATH_SIZE, "%s.from",
                                   fetch->part) >= (int)PATH_SIZE))
        err = file_write_failed(why, path, ENAMETOOLONG);
    return err;
}

enum err http_download(const struct http_options *options,
                       struct http_report *report, struct why *why)
{
    struct fetch fetch = {.options = options, .fd = -1};
    struct http_report made = {0};
    enum err err = choose_names(&fetch, why);

    web_hide_password(options->url, fetch.shown, sizeof fetch.shown);
    if (err == ERR_OK)
        err = fetch_part(&fetch, &made, why);
    if (err == ERR_STALE) {
        drop_part(&fetch);
        err = fetch_part(&fetch, &made, why);
    }
    if (err == ERR_OK)
        err = hash_file(fetch.part, &made, why);
    if (err == ERR_OK)
        err = check_hash(&fetch, &made, why);
    if (err == ERR_MISMATCH)
        drop_part(&fetch);
    if (err == ERR_OK)
        err = output_place(fetch.part, fetch.target, why);
    if (err != ERR_OK)
        return err;
    (void)unlink(fetch.origin);
    *report = made;
    return ERR_OK;
}
