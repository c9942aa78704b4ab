/*
 * certificates.c - a cache of code certificates (what a code promises for n and
 * s), as text in the user's cache folder.
 */
#include "learn/certificates.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "os/file/file.h"

#define PATH_SIZE 4096u
#define LINE_SIZE 160u
#define FILE_MAX  (CODE_MEMOS * LINE_SIZE + LINE_SIZE)

/* Another version may draw other coefficients for the same key. */
static int put_head(char *line)
{
    return snprintf(line, LINE_SIZE, "muster certificates %s\n", version_text);
}

static int put_memo(char *line, const struct code_memo *memo)
{
    const struct certificate *seen = &memo->certificate;

    return snprintf(
        line, LINE_SIZE, "%016" PRIx64 " %" PRIu32 " %a %a %" PRIu32 " %d\n",
        memo->key, memo->draw, seen->worst_residual, seen->worst_amplification,
        seen->patterns, seen->exhaustive);
}

static bool get_memo(const char *line, struct code_memo *memo)
{
    struct certificate *seen = &memo->certificate;
    int exhaustive;
    int end = 0;

    *memo = (struct code_memo){0};
    if (sscanf(line, "%16" SCNx64 " %" SCNu32 " %la %la %" SCNu32 " %d%n",
               &memo->key, &memo->draw, &seen->worst_residual,
               &seen->worst_amplification, &seen->patterns, &exhaustive,
               &end) != 6 ||
        line[end] != '\n')
        return false;
    seen->exhaustive = exhaustive == 1;
    return seen->worst_residual >= 0 && seen->worst_amplification >= 0 &&
           seen->patterns > 0;
}

static void parse(struct code_memory *memory, const char *text)
{
    char head[LINE_SIZE];
    const size_t length = (size_t)put_head(head);

    if (strncmp(text, head, length) != 0)
        return;
    text += length;
    while (memory->count < CODE_MEMOS &&
           get_memo(text, &memory->memo[memory->count])) {
        memory->count++;
        text = strchr(text, '\n') + 1;
    }
}

void certificates_load(struct code_memory *memory)
{
    char path[PATH_SIZE];
    struct why ignored = {0};
    uint8_t *text = NULL;
    size_t size = 0;

    *memory = (struct code_memory){0};
    if (!file_cache_path("/certificates", path, sizeof path) ||
        file_check_private(path, &ignored) != ERR_OK ||
        file_read(path, FILE_MAX, &text, &size, &ignored) != ERR_OK)
        return;
    parse(memory, (const char *)text);
    mem_free(text);
}

/* Oldest first, as they are forgotten; those made in a hurry are not worth
 * keeping. */
static size_t put_all(const struct code_memory *memory, char *text)
{
    const uint32_t kept =
        memory->count < CODE_MEMOS ? memory->count : CODE_MEMOS;
    size_t size = (size_t)put_head(text);

    for (uint32_t i = memory->count - kept; i < memory->count; i++) {
        const struct code_memo *memo = &memory->memo[i % CODE_MEMOS];

        if (!memo->quick)
            size += (size_t)put_memo(text + size, memo);
    }
    return size;
}

void certificates_save(const struct code_memory *memory)
{
    char folder[PATH_SIZE];
    char path[PATH_SIZE];
    char text[FILE_MAX];
    struct why ignored = {0};
    size_t size;

    if (!file_cache_path("", folder, sizeof folder) ||
        !file_cache_path("/certificates", path, sizeof path) ||
        file_make_folder(folder, &ignored) != ERR_OK)
        return;
    size = put_all(memory, text);
    /* Not written: the next run makes them again. */
    (void)!file_write_atomic(path, text, size, 0600, &ignored);
}
