/*
 * logbook.c - lines and scores of a series, written so that a line that can be
 * read is true.
 *
 *     muster-series-2 PLAN
 *     CHECK done 3 1 12 steps 0x1.8p-2 0.512 HASH SCORES
 *     CHECK diverged 4 0 7 diverged nan 0.103 HASH SCORES why it did
 *
 * CHECK is of what follows it in the line.
 */
#include "learn/series/logbook.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/mem.h"
#include "base/plain.h"
#include "node/host/format.h"
#include "os/file/file.h"
#include "os/file/folder.h"

#define HEAD        "muster-series-2 "
#define CHECK_BYTES 8u
#define CHECK_TEXT  (2 * CHECK_BYTES)
#define LINE_SIZE   1024u
#define PARTIAL     "scores-new"
#define HEAD_SIZE   (sizeof HEAD - 1 + DIGEST_TEXT) /* With its end. */
#define BOOK_MAX    (UINT64_C(1) << 30)             /* Millions of lines. */

static const char *const files[] = {SERIES_FILE, PARTIAL, "scores-#-#"};
const struct names logbook_names = NAMES_OF(files);

struct logbook {
    struct folder folder;
    const char *path; /* As the caller calls the folder. */
    struct entry *entries;
    size_t count, capacity;
};

/* --- lines ---------------------------------------------------------------- */

static void check_of(const char *text, size_t size, char out[CHECK_TEXT + 1])
{
    const struct digest digest = hash_bytes(text, size);

    (void)hex_put(digest.bytes, CHECK_BYTES, out);
}

/* With its end; 0: it has no room, which a sentence of ours has. */
static size_t put_line(const struct entry *entry, char line[LINE_SIZE])
{
    char hash[DIGEST_TEXT], scores[DIGEST_TEXT], check[CHECK_TEXT + 1];
    char *const text = line + CHECK_TEXT + 1;
    const int used = snprintf(
        text, LINE_SIZE - CHECK_TEXT - 1, "%s %u %u %u %s %a %.3f %s %s %s",
        entry->diverged ? "diverged" : "done", entry->trial, entry->fold,
        entry->steps, optim_end_name(entry->end), entry->objective,
        entry->seconds, digest_text(&entry->hash, hash),
        digest_text(&entry->scores, scores), entry->why.text);

    if (used < 0 || (size_t)used >= LINE_SIZE - CHECK_TEXT - 2)
        return 0;
    plain_controls(text, LINE_SIZE - CHECK_TEXT - 2);
    check_of(text, strlen(text), check);
    memcpy(line, check, CHECK_TEXT);
    line[CHECK_TEXT] = ' ';
    text[strlen(text) + 1] = '\0';
    text[strlen(text)] = '\n';
    return strlen(line);
}

static bool take_word(const char **at, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static uint32_t take_count(const char **at, bool *ok)
{
    char *end;
    const unsigned long value = strtoul(*at, &end, 10);

    *ok =
        *ok && **at >= '0' && **at <= '9' && *end == ' ' && value <= UINT32_MAX;
    *at = *ok ? end + 1 : *at;
    return (uint32_t)value;
}

static enum optim_end take_end(const char **at, bool *ok)
{
    for (enum optim_end end = OPTIM_GOING; *ok && end <= OPTIM_DIVERGED; end++)
        if (take_word(at, optim_end_name(end))) {
            *ok = take_word(at, " ");
            return end;
        }
    *ok = false;
    return OPTIM_GOING;
}

static double take_real(const char **at, bool *ok)
{
    char *end;
    const double value = strtod(*at, &end);

    *ok = *ok && end != *at && *end == ' ';
    *at = *ok ? end + 1 : *at;
    return value;
}

static void take_digest(const char **at, bool *ok, struct digest *out)
{
    const size_t digits = DIGEST_TEXT - 1;

    *ok = *ok && hex_get(*at, DIGEST_BYTES, out->bytes) && (*at)[digits] == ' ';
    *at += *ok ? digits + 1 : 0;
}

/* A line without its end, which is a NUL here. */
static bool read_line(const char *line, struct entry *entry)
{
    char check[CHECK_TEXT + 1];
    const char *at = line + CHECK_TEXT + 1;
    bool ok = strlen(line) > CHECK_TEXT + 1 && line[CHECK_TEXT] == ' ';

    if (!ok)
        return false;
    check_of(at, strlen(at), check);
    *entry = (struct entry){.diverged = take_word(&at, "diverged ")};
    ok = memcmp(line, check, CHECK_TEXT) == 0 &&
         (entry->diverged || take_word(&at, "done "));
    entry->trial = take_count(&at, &ok);
    entry->fold = take_count(&at, &ok);
    entry->steps = take_count(&at, &ok);
    entry->end = take_end(&at, &ok);
    entry->objective = take_real(&at, &ok);
    entry->seconds = take_real(&at, &ok);
    take_digest(&at, &ok, &entry->hash);
    take_digest(&at, &ok, &entry->scores);
    if (ok)
        (void)snprintf(entry->why.text, sizeof entry->why.text, "%s", at);
    return ok;
}

/* --- the file ------------------------------------------------------------- */

static struct disk *disk_of(struct logbook *book)
{
    return &book->folder.disk;
}

static struct entry *find(const struct logbook *book, uint32_t trial,
                          uint32_t fold)
{
    for (size_t i = 0; i < book->count; i++)
        if (book->entries[i].trial == trial && book->entries[i].fold == fold)
            return &book->entries[i];
    return NULL;
}

/* The last line of a training is the one that holds. */
static enum err keep(struct logbook *book, const struct entry *entry)
{
    struct entry *const there = find(book, entry->trial, entry->fold);
    struct entry *grown;

    if (there != NULL) {
        *there = *entry;
        return ERR_OK;
    }
    grown = mem_grow(book->entries, book->count, book->count + 1,
                     sizeof *book->entries, &book->capacity);
    if (grown == NULL)
        return ERR_NOMEM;
    book->entries = grown;
    book->entries[book->count++] = *entry;
    return ERR_OK;
}

static enum err other(const struct logbook *book, struct why *why)
{
    return why_set(why, ERR_MISMATCH,
                   "%.200s holds a series of other rows, options or lists than "
                   "these; go on with it with `--resume` alone, or choose "
                   "another --out",
                   book->path);
}

/* A line that is damaged is left out, and one that is torn is where the next
 * ones go. */
static enum err read_lines(struct logbook *book, char *text, size_t size,
                           size_t *valid)
{
    enum err err = ERR_OK;

    while (err == ERR_OK && *valid < size) {
        char *const line = text + *valid;
        char *const end = memchr(line, '\n', size - *valid);
        struct entry entry;

        if (end == NULL)
            return ERR_OK;
        *end = '\0';
        if (read_line(line, &entry))
            err = keep(book, &entry);
        *valid += (size_t)(end - line) + 1;
    }
    return err;
}

static enum err damaged(const struct logbook *book, const char *how,
                        struct why *why)
{
    return why_set(why, ERR_FORMAT,
                   "%.200s/" SERIES_FILE ": damaged, %s; what it said of "
                   "trainings is lost: begin again with another --out",
                   book->path, how);
}

/* Of whatever plan? */
static bool is_head(const char *text, size_t size)
{
    uint8_t plan[DIGEST_BYTES];

    return size >= HEAD_SIZE && memcmp(text, HEAD, sizeof HEAD - 1) == 0 &&
           hex_get(text + sizeof HEAD - 1, DIGEST_BYTES, plan) &&
           text[HEAD_SIZE - 1] == '\n';
}

static enum err read_book(struct logbook *book, const char *head, char *text,
                          size_t size, struct why *why)
{
    size_t valid = strlen(head);
    enum err err;

    if (!is_head(text, size))
        return damaged(book, "its first line is not one of ours", why);
    if (memcmp(text, head, valid) != 0)
        return other(book, why);
    err = read_lines(book, text, size, &valid);
    if (err == ERR_OK && valid < size)
        err = disk_of(book)->ops->cut(disk_of(book), SERIES_FILE, valid);
    return err;
}

/* Links are not followed, nor pipes waited for. */
static enum err say_not_plain(const struct logbook *book, const char *name,
                              struct why *why)
{
    return why_set(why, ERR_DENIED,
                   "%.200s/%s: not a plain file, and nothing else belongs "
                   "there; remove it, then go on with --resume",
                   book->path, name);
}

/* A hole of many GiB takes no room on the disk, and much here. */
static enum err bound_book(struct logbook *book, struct why *why)
{
    size_t beyond;
    char byte;
    const enum err err = disk_of(book)->ops->read_at(
        disk_of(book), SERIES_FILE, BOOK_MAX, &byte, sizeof byte, &beyond);

    return err == ERR_OK && beyond > 0
               ? damaged(book, "larger than it can be", why)
               : err;
}

/* What a write came to; other words than "input/output error" help. */
static enum err say_unwritten(const struct logbook *book, const char *name,
                              enum err err, struct why *why)
{
    char path[FILE_PATH_SIZE];
    struct why words = {0};

    if (err == ERR_DENIED)
        return say_not_plain(book, name, why);
    file_path_in(book->path, name, path);
    if (err == ERR_IO)
        (void)file_write_failed(&words, path, book->folder.error);
    else
        (void)why_set(&words, err, "%.300s: %s", path, err_text(err));
    return why_set(why, err, "%.500s; then go on with --resume", words.text);
}

/* The head is in place whole or not at all. */
static enum err begin_book(struct logbook *book, const char *head)
{
    struct disk *const disk = disk_of(book);
    enum err err = disk->ops->write_new(disk, PARTIAL, head, strlen(head));

    if (err == ERR_OK)
        err = disk->ops->sync(disk, PARTIAL);
    if (err == ERR_OK)
        err = disk->ops->rename(disk, PARTIAL, SERIES_FILE);
    return err == ERR_OK ? disk->ops->sync_folder(disk) : err;
}

/* ERR_OK, or the sentence for what reading came to. */
static enum err say_unread(const struct logbook *book, enum err err,
                           struct why *why)
{
    if (err == ERR_DENIED)
        return say_not_plain(book, SERIES_FILE, why);
    return err == ERR_OK || err == ERR_MISMATCH || err == ERR_FORMAT
               ? err
               : why_set(why, err, "%.200s/" SERIES_FILE ": %s", book->path,
                         err_text(err));
}

static enum err open_book(struct logbook *book, const struct digest *plan,
                          struct why *why)
{
    char head[sizeof HEAD + DIGEST_TEXT + 1], hex[DIGEST_TEXT];
    uint8_t *text;
    size_t size;
    enum err err = folder_open(&book->folder, book->path, why);

    if (err != ERR_OK)
        return err;
    (void)snprintf(head, sizeof head, HEAD "%s\n", digest_text(plan, hex));
    err = bound_book(book, why);
    if (err == ERR_OK)
        err =
            disk_of(book)->ops->read(disk_of(book), SERIES_FILE, &text, &size);
    if (err == ERR_NOTFOUND) {
        err = begin_book(book, head);
        return err == ERR_OK ? err : say_unwritten(book, PARTIAL, err, why);
    }
    if (err == ERR_OK) {
        err = read_book(book, head, (char *)text, size, why);
        mem_free(text);
    }
    return say_unread(book, err, why);
}

enum err logbook_check(const char *folder, struct why *why)
{
    struct logbook book = {.path = folder,
                           .folder = {.fd = -1, .append_fd = -1}};
    char head[HEAD_SIZE];
    size_t got = 0;
    enum err err = folder_open(&book.folder, folder, why);

    if (err != ERR_OK)
        return err;
    err = bound_book(&book, why);
    if (err == ERR_OK)
        err = disk_of(&book)->ops->read_at(disk_of(&book), SERIES_FILE, 0, head,
                                           sizeof head, &got);
    if (err == ERR_OK && !is_head(head, got))
        err = damaged(&book, "its first line is not one of ours", why);
    err = say_unread(&book, err, why);
    folder_close(&book.folder);
    return err;
}

enum err logbook_open(const char *folder, const struct digest *plan,
                      struct logbook **book, struct why *why)
{
    struct logbook *const made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return why_set(why, ERR_NOMEM, "out of memory");
    made->path = folder;
    made->folder.fd = made->folder.append_fd = -1;
    err = open_book(made, plan, why);
    if (err == ERR_OK)
        *book = made;
    else
        logbook_close(made);
    return err;
}

void logbook_close(struct logbook *book)
{
    if (book == NULL)
        return;
    folder_close(&book->folder);
    mem_free(book->entries);
    mem_free(book);
}

/* --- entries -------------------------------------------------------------- */

uint32_t logbook_count(const struct logbook *book)
{
    return (uint32_t)book->count;
}

const struct entry *logbook_find(const struct logbook *book, uint32_t trial,
                                 uint32_t fold)
{
    return find(book, trial, fold);
}

static void name_scores(uint32_t trial, uint32_t fold,
                        char name[FOLDER_NAME_SIZE])
{
    (void)snprintf(name, FOLDER_NAME_SIZE, "scores-%u-%u", trial, fold);
}

static void forget(struct logbook *book, struct entry *entry)
{
    *entry = book->entries[--book->count];
}

/* Not a byte more than is wanted is read, however large the file is. */
static enum err read_scores(struct logbook *book, const struct entry *entry,
                            double *scores, size_t count)
{
    const size_t size = count * sizeof *scores;
    double *const read = mem_new(count + 1, sizeof *read);
    char name[FOLDER_NAME_SIZE];
    struct digest is;
    size_t got;
    enum err err;

    if (read == NULL)
        return ERR_NOMEM;
    name_scores(entry->trial, entry->fold, name);
    err = disk_of(book)->ops->read_at(disk_of(book), name, 0, read, size + 1,
                                      &got);
    if (err == ERR_OK && got == size) {
        is = hash_bytes(read, size);
        err = digest_equal(&is, &entry->scores) ? ERR_OK : ERR_NOTFOUND;
    } else if (err != ERR_NOMEM) {
        err = ERR_NOTFOUND;
    }
    if (err == ERR_OK)
        memcpy(scores, read, size);
    mem_free(read);
    return err;
}

enum err logbook_scores(struct logbook *book, uint32_t trial, uint32_t fold,
                        double *scores, size_t count)
{
    struct entry *const entry = find(book, trial, fold);
    enum err err;

    if (entry == NULL)
        return ERR_NOTFOUND;
    if (entry->diverged)
        return ERR_OK; /* There are none. */
    err = read_scores(book, entry, scores, count);
    if (err == ERR_NOTFOUND)
        forget(book, entry);
    return err;
}

static enum err write_scores(struct logbook *book, const struct entry *entry,
                             const double *scores, size_t count)
{
    struct disk *const disk = disk_of(book);
    char name[FOLDER_NAME_SIZE];
    enum err err;

    name_scores(entry->trial, entry->fold, name);
    err = disk->ops->write_new(disk, PARTIAL, scores, count * sizeof *scores);
    if (err == ERR_OK)
        err = disk->ops->sync(disk, PARTIAL);
    if (err == ERR_OK)
        err = disk->ops->rename(disk, PARTIAL, name);
    return err == ERR_OK ? disk->ops->sync_folder(disk) : err;
}

enum err logbook_add(struct logbook *book, const struct entry *entry,
                     const double *scores, size_t count, struct why *why)
{
    struct disk *const disk = disk_of(book);
    struct entry made = *entry;
    char line[LINE_SIZE];
    size_t size;
    enum err err = ERR_OK;

    made.scores = hash_bytes(scores, count * sizeof *scores);
    if (!made.diverged)
        err = write_scores(book, &made, scores, count);
    if (err != ERR_OK)
        return say_unwritten(book, PARTIAL, err, why);
    size = put_line(&made, line);
    if (size == 0)
        err = ERR_TOOBIG;
    if (err == ERR_OK)
        err = disk->ops->append(disk, SERIES_FILE, line, size);
    if (err == ERR_OK)
        err = disk->ops->sync(disk, SERIES_FILE);
    if (err == ERR_OK)
        err = keep(book, &made);
    return err == ERR_OK ? err : say_unwritten(book, SERIES_FILE, err, why);
}
