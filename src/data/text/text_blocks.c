/*
 * text_blocks.c - parallel reading of texts: blocks of whole lines for all
 * threads, at any offset of a plain file, or in turns with the one that unpacks
 * a stream.
 */
#include "data/text/text_blocks.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/text/letters.h"
#include "data/text/text_source.h"
#include "data/text/unpack.h"
#include "os/file/input.h"

enum {
    LINE_GUESS = 4096, /* Most lines are shorter. */
    MARK_BYTES = 3,    /* Of a UTF-8 byte order mark. */
};

/* Text of one block, in memory that is used again and again. */
struct page {
    char *text;
    size_t size, capacity;
    uint64_t lines, lines_before;
    enum err err;
};

/* Pages of a stream that threads read side by side. */
struct batch {
    struct page *page;
    struct why *why; /* One for each page. */
    uint32_t count, capacity;
    enum err err; /* Of the unpacker, after the last page. */
    struct why end;
};

/* What a thread needs of its own. */
struct desk {
    struct page page; /* Plain files: the block it reads. */
    struct sparse rows;
};

struct job {
    const struct text_format *format;
    size_t block_bytes;
    size_t record_bytes; /* 0: lines. */
    struct desk *desk;   /* One for each thread. */
    struct block *block;
    bool skip_first; /* The first line is a header. */
    bool wide;       /* As the stage. */
    /* Plain files. */
    const struct input *input;
    struct page *result; /* Of each block: lines and err only. */
    /* Streams. */
    struct unpacker *unpacker;
    struct batch batch[2];
    struct batch *full, *empty; /* Of these: being read, being filled. */
    struct page rest;           /* A line begun after the last page. */
    uint64_t lines;             /* On all pages filled so far. */
    bool started, ended;
};

static void page_close(struct page *page)
{
    mem_free(page->text);
    *page = (struct page){0};
}

/* Room for `more` bytes and the line feed that may be missing. */
static enum err page_reserve(struct page *page, size_t more)
{
    char *grown;

    if (page->size + more + 1 <= page->capacity)
        return ERR_OK;
    if (page->size > TEXT_LINE_MAX)
        return ERR_TOOBIG;
    grown = mem_grow(page->text, page->size, page->size + more + 1, 1,
                     &page->capacity);
    if (grown == NULL)
        return ERR_NOMEM;
    page->text = grown;
    return ERR_OK;
}

static void page_drop(struct page *page, size_t count)
{
    memmove(page->text, page->text + count, page->size - count);
    page->size -= count;
}

/* The last line of a text may lack its line feed. */
static void end_line(struct page *page)
{
    if (page->size > 0 && page->text[page->size - 1] != '\n')
        page->text[page->size++] = '\n';
}

static void drop_mark(struct page *page)
{
    if (page->size >= MARK_BYTES &&
        memcmp(page->text, "\xef\xbb\xbf", MARK_BYTES) == 0)
        page_drop(page, MARK_BYTES);
}

/* Lines, or records. */
static uint64_t count_lines(const struct job *job, const struct page *page)
{
    const char *at = page->text;
    const char *const end = at + page->size;
    uint64_t lines = 0;

    if (job->record_bytes > 0)
        return page->size / job->record_bytes;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

/* Show the first line to the format. */
static enum err look_at_first(struct job *job, const struct page *page,
                              struct why *why)
{
    const char *feed;
    size_t size;
    enum err err;

    err = job->record_bytes == 0 ? letters_begin(page->text, page->size, why)
                                 : ERR_OK;
    if (err != ERR_OK || job->format->begin == NULL || page->size == 0)
        return err;
    feed = memchr(page->text, '\n', page->size);
    size = (size_t)(feed - page->text);
    if (size > 0 && page->text[size - 1] == '\r')
        size--;
    err = job->format->begin(job->format->options, page->text, size,
                             &job->skip_first, why);
    return err == ERR_OK ? ERR_OK : why_in(why, err, "line 1");
}

/* Leave a header out; the line still counts. */
static void skip_header(const struct job *job, struct page *page)
{
    const char *feed;

    if (!job->skip_first || page->size == 0)
        return;
    feed = memchr(page->text, '\n', page->size);
    page_drop(page, (size_t)(feed - page->text) + 1);
}

/* Read a page's rows and pack them.  Without `why` the sentence is left for
 * later: then the lines in front are not known yet. */
static enum err read_page(const struct job *job, struct desk *desk,
                          const struct page *page, uint64_t lines_before,
                          struct block *block, struct why *why)
{
    const struct text_block text = {
        .text = page->text, .size = page->size, .lines_before = lines_before};
    enum err err;

    sparse_clear(&desk->rows);
    desk->rows.wide = job->wide;
    err = job->format->read(&text, job->format->options, &desk->rows, why);
    if (err != ERR_OK || block == NULL)
        return err;
    err = block_pack(block, &desk->rows);
    return err == ERR_OK ? err : why_set(why, err, "%s", err_text(err));
}

/* No line ends in a whole block, and there is what no text has: who read on
 * would read all of a disk. */
static bool is_no_text(const char *block, size_t size)
{
    return memchr(block, '\n', size) == NULL &&
           memchr(block, '\0', size) != NULL;
}

/* Does no line start in the range of a page that begins one byte before it?
 * All of it is then within a long line, which another page has. */
static bool has_no_start(const struct page *page, size_t span)
{
    return page->size >= span && memchr(page->text, '\n', span - 1) == NULL;
}

static enum err say_load(enum err err, uint64_t line, struct why *why)
{
    if (err == ERR_FORMAT)
        return why_set(why, err, "line %llu: a NUL byte; is this a text file?",
                       (unsigned long long)line);
    if (err == ERR_TOOBIG)
        return why_set(why, err,
                       "line %llu: longer than 2 GiB; is this a text file?",
                       (unsigned long long)line);
    return why_set(why, err, "line %llu: %s", (unsigned long long)line,
                   err_text(err));
}

/* --- plain files ----------------------------------------------------------
 */

/* Of a page that begins one byte before its range (none for the first), keep
 * the lines that start in the first `span` bytes. */
static void keep_lines(struct page *page, size_t span, bool first)
{
    const size_t last = span - 1;
    const char *feed;

    if (page->size > last) {
        feed = memchr(page->text + last, '\n', page->size - last);
        if (feed != NULL)
            page->size = (size_t)(feed - page->text) + 1;
    }
    if (first) {
        drop_mark(page);
        return;
    }
    feed = memchr(page->text, '\n', page->size);
    if (feed == NULL || (size_t)(feed - page->text) + 1 >= span)
        page->size = 0;
    else
        page_drop(page, (size_t)(feed - page->text) + 1);
}

static bool has_end(const struct page *page, size_t span)
{
    return page->size >= span &&
           memchr(page->text + span - 1, '\n', page->size - span + 1) != NULL;
}

/* Load the lines that start in [item * B, item * B + B). */
static enum err load_range(const struct job *job, uint32_t item,
                           struct page *page)
{
    const uint64_t from = (uint64_t)item * job->block_bytes - (item > 0);
    const size_t span = job->block_bytes + (item > 0);
    size_t want = span + LINE_GUESS;
    size_t got = want;

    page->size = 0;
    while (got == want && !has_end(page, span)) {
        enum err err;

        want = page->size == 0 ? want : page->size;
        err = page_reserve(page, want);
        if (err == ERR_OK)
            err = input_read_at(job->input, from + page->size,
                                page->text + page->size, want, &got);
        if (err != ERR_OK)
            return err;
        page->size += got;
        if (item > 0 && has_no_start(page, span)) {
            page->size = 0;
            return ERR_OK;
        }
        if (got == want && is_no_text(page->text, page->size))
            return ERR_FORMAT;
    }
    keep_lines(page, span, item == 0);
    end_line(page);
    return ERR_OK;
}

static void range_item(void *context, uint32_t thread, uint32_t item)
{
    struct job *const job = context;
    struct desk *const desk = &job->desk[thread];
    struct page *const result = &job->result[item];

    result->err = load_range(job, item, &desk->page);
    if (result->err != ERR_OK)
        return;
    result->lines = count_lines(job, &desk->page);
    if (item == 0)
        skip_header(job, &desk->page);
    result->err = read_page(job, desk, &desk->page, 0, &job->block[item], NULL);
}

/* Read the first bad block again, now that its line numbers are known. */
static enum err explain(struct job *job, uint32_t items, struct why *why)
{
    struct desk *const desk = &job->desk[0];
    uint64_t lines = 0;

    for (uint32_t i = 0; i < items; i++) {
        const enum err first = job->result[i].err;
        enum err err;

        if (first == ERR_OK) {
            lines += job->result[i].lines;
            continue;
        }
        err = load_range(job, i, &desk->page);
        if (err != ERR_OK)
            return say_load(err, lines + 1, why);
        if (i == 0) {
            skip_header(job, &desk->page);
            lines += job->skip_first;
        }
        err = read_page(job, desk, &desk->page, lines, NULL, why);
        return err != ERR_OK ? err : say_load(first, lines + 1, why);
    }
    return ERR_OK;
}

static enum err read_plain(struct job *job, struct pool *pool,
                           struct stage *stage, struct why *why)
{
    const struct input_identity *const begun = &job->input->identity;
    const uint64_t blocks =
        (begun->size + job->block_bytes - 1) / job->block_bytes;
    struct input_identity ended;
    const uint32_t items = (uint32_t)blocks;
    enum err err;

    if (blocks > UINT32_MAX / 2)
        return why_set(why, ERR_TOOBIG, "larger than this program can read");
    job->result = mem_new(items, sizeof *job->result);
    err = job->result == NULL ? ERR_NOMEM
                              : stage_extend(stage, items, &job->block);
    if (err != ERR_OK)
        return why_set(why, err, "%s", err_text(err));
    err = items == 0 ? ERR_OK : load_range(job, 0, &job->desk[0].page);
    if (err != ERR_OK)
        err = say_load(err, 1, why);
    else if (items > 0)
        err = look_at_first(job, &job->desk[0].page, why);
    if (err == ERR_OK) {
        pool->run(pool, range_item, job, items);
        err = !input_look(job->input->fd, &ended) ||
                      !input_unchanged(begun, &ended)
                  ? unpacker_say_changed(why)
                  : explain(job, items, why);
    }
    mem_free(job->result);
    return err;
}

/* --- streams --------------------------------------------------------------
 */

/* Up to the end of the last line or record; none of them ends before `from`. */
static size_t whole_lines(const struct job *job, const struct page *page,
                          size_t from)
{
    size_t size = page->size;

    if (job->record_bytes > 0)
        return size - size % job->record_bytes;
    while (size > from && page->text[size - 1] != '\n')
        size--;
    return size > from ? size : 0;
}

/* Keep what follows the last whole line for the next page. */
static enum err set_rest_aside(struct job *job, struct page *page, size_t whole)
{
    const size_t left = page->size - whole;
    const enum err err = page_reserve(&job->rest, left);

    if (err != ERR_OK)
        return err;
    if (left > 0)
        memcpy(job->rest.text, page->text + whole, left);
    job->rest.size = left;
    page->size = whole;
    return ERR_OK;
}

static enum err take_rest(struct job *job, struct page *page)
{
    enum err err;

    page->size = 0;
    err = page_reserve(page, job->rest.size + job->block_bytes);
    if (err != ERR_OK)
        return err;
    if (job->rest.size > 0)
        memcpy(page->text, job->rest.text, job->rest.size);
    page->size = job->rest.size;
    job->rest.size = 0;
    return ERR_OK;
}

/* What is wrong with the first and last line of many texts. */
static void mend_ends(struct job *job, struct page *page)
{
    if (job->record_bytes > 0)
        return;
    if (!job->started && (page->size >= MARK_BYTES || job->ended)) {
        drop_mark(page);
        job->started = true;
    }
    if (job->ended)
        end_line(page);
}

/* The next whole lines, at least one unless the text has ended. */
static enum err fill_page(struct job *job, struct page *page, struct why *why)
{
    enum err err = take_rest(job, page);
    size_t whole = 0;
    size_t seen = 0; /* So much of a long line was looked at. */

    while (err == ERR_OK && whole == 0 && !job->ended) {
        size_t got = 0;

        err = page_reserve(page, job->block_bytes);
        if (err != ERR_OK)
            break;
        err = unpacker_fill(job->unpacker, page->text + page->size,
                            job->block_bytes, &got, why);
        if (err != ERR_OK)
            return err;
        page->size += got;
        job->ended = got < job->block_bytes;
        if (job->record_bytes == 0 && !job->ended &&
            is_no_text(page->text + seen, page->size - seen))
            return say_load(ERR_FORMAT, job->lines + 1, why);
        mend_ends(job, page);
        whole = job->started ? whole_lines(job, page, seen) : 0;
        seen = job->started ? page->size : 0;
    }
    if (err == ERR_OK)
        err = set_rest_aside(job, page, whole);
    return err == ERR_OK ? err : say_load(err, job->lines + 1, why);
}

static void fill_batch(struct job *job, struct batch *batch)
{
    batch->count = 0;
    batch->err = ERR_OK;
    while (batch->count < batch->capacity && !job->ended) {
        struct page *const page = &batch->page[batch->count];

        batch->err = fill_page(job, page, &batch->end);
        if (batch->err != ERR_OK) {
            job->ended = true;
            return;
        }
        page->lines_before = job->lines;
        page->lines = count_lines(job, page);
        job->lines += page->lines;
        if (page->lines_before == 0 && page->lines > 0) {
            batch->err = look_at_first(job, page, &batch->end);
            if (batch->err != ERR_OK)
                return;
            skip_header(job, page);
            page->lines_before = job->skip_first;
        }
        batch->count++;
    }
}

/* Item 0 fills the next batch, the others read this one. */
static void stream_item(void *context, uint32_t thread, uint32_t item)
{
    struct job *const job = context;
    struct page *page;

    if (item == 0) {
        fill_batch(job, job->empty);
        return;
    }
    page = &job->full->page[item - 1];
    page->err = read_page(job, &job->desk[thread], page, page->lines_before,
                          &job->block[item - 1], &job->full->why[item - 1]);
}

static enum err batch_error(const struct batch *batch, struct why *why)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->page[i].err != ERR_OK)
            return why_set(why, batch->page[i].err, "%s", batch->why[i].text);
    }
    return batch->err == ERR_OK
               ? ERR_OK
               : why_set(why, batch->err, "%s", batch->end.text);
}

static enum err batch_init(struct batch *batch, uint32_t pages)
{
    batch->page = mem_new(pages, sizeof *batch->page);
    batch->why = mem_new(pages, sizeof *batch->why);
    batch->capacity = pages;
    return batch->page == NULL || batch->why == NULL ? ERR_NOMEM : ERR_OK;
}

static void batch_close(struct batch *batch)
{
    for (uint32_t i = 0; batch->page != NULL && i < batch->capacity; i++)
        page_close(&batch->page[i]);
    mem_free(batch->page);
    mem_free(batch->why);
}

static enum err read_batches(struct job *job, struct pool *pool,
                             struct stage *stage, struct why *why)
{
    fill_batch(job, job->full);
    for (;;) {
        struct batch *const full = job->full;
        enum err err = stage_extend(stage, full->count, &job->block);

        if (err != ERR_OK)
            return why_set(why, err, "%s", err_text(err));
        pool->run(pool, stream_item, job, full->count + 1);
        err = batch_error(full, why);
        if (err != ERR_OK)
            return err;
        job->full = job->empty;
        job->empty = full;
        if (job->full->count == 0 && job->full->err == ERR_OK)
            return ERR_OK;
    }
}

static enum err read_stream(struct job *job, struct pool *pool,
                            struct stage *stage, struct why *why)
{
    enum err err = batch_init(&job->batch[0], pool->threads);

    if (err == ERR_OK)
        err = batch_init(&job->batch[1], pool->threads);
    job->full = &job->batch[0];
    job->empty = &job->batch[1];
    err = err == ERR_OK ? read_batches(job, pool, stage, why)
                        : why_set(why, err, "%s", err_text(err));
    batch_close(&job->batch[0]);
    batch_close(&job->batch[1]);
    return err;
}

/* --- either ---------------------------------------------------------------
 */

static enum err open_desks(struct job *job, struct pool *pool, struct why *why)
{
    job->desk = mem_new(pool->threads, sizeof *job->desk);
    return job->desk != NULL ? ERR_OK
                             : why_set(why, ERR_NOMEM, "out of memory");
}

static void close_desks(struct job *job, struct pool *pool)
{
    for (uint32_t i = 0; job->desk != NULL && i < pool->threads; i++) {
        page_close(&job->desk[i].page);
        sparse_close(&job->desk[i].rows);
    }
    mem_free(job->desk);
}

/* True if the file can be read at any offset and needs no unpacking. */
static bool open_plain(const char *path, struct input *input)
{
    uint8_t first[4];
    size_t got = 0;

    if (input_is_stream(path) || input_open(input, path, NULL) != ERR_OK)
        return false;
    if (input_read_at(input, 0, first, sizeof first, &got) == ERR_OK &&
        !unpacker_is_packed(first, got))
        return true;
    input_close(input);
    return false;
}

enum err text_blocks_read(const char *path, const struct text_format *format,
                          struct pool *pool, struct stage *stage,
                          struct why *why)
{
    struct job job = {
        .format = format, .block_bytes = TEXT_BLOCK_BYTES, .wide = stage->wide};
    struct input input;
    enum err err = open_desks(&job, pool, why);

    if (err == ERR_OK && open_plain(path, &input)) {
        job.input = &input;
        err = read_plain(&job, pool, stage, why);
        input_close(&input);
    } else if (err == ERR_OK) {
        err = unpacker_open(path, &job.unpacker, why);
        if (err == ERR_OK)
            err = read_stream(&job, pool, stage, why);
        page_close(&job.rest);
        unpacker_close(job.unpacker);
    }
    close_desks(&job, pool);
    return err;
}

enum err records_read(struct unpacker *in, size_t record_bytes,
                      const struct text_format *format, struct pool *pool,
                      struct stage *stage, size_t *rest, struct why *why)
{
    struct job job = {.format = format,
                      .block_bytes = TEXT_BLOCK_BYTES,
                      .record_bytes = record_bytes,
                      .unpacker = in,
                      .wide = stage->wide,
                      .started = true};
    enum err err = open_desks(&job, pool, why);

    CHECK(record_bytes > 0);
    CHECK(format->begin == NULL);
    if (err == ERR_OK)
        err = read_stream(&job, pool, stage, why);
    if (err == ERR_OK)
        *rest = job.rest.size;
    page_close(&job.rest);
    close_desks(&job, pool);
    return err;
}

enum err text_blocks_read_memory(const void *data, size_t size,
                                 size_t block_bytes,
                                 const struct text_format *format,
                                 struct pool *pool, struct stage *stage,
                                 struct why *why)
{
    struct job job = {
        .format = format, .block_bytes = block_bytes, .wide = stage->wide};
    enum err err = open_desks(&job, pool, why);

    if (err == ERR_OK)
        err = unpacker_open_memory(data, size, &job.unpacker);
    if (err == ERR_OK)
        err = read_stream(&job, pool, stage, why);
    page_close(&job.rest);
    unpacker_close(job.unpacker);
    close_desks(&job, pool);
    return err;
}
