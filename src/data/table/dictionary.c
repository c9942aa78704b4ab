/*
 * dictionary.c - the words of a column: an open hash table while rows are read;
 * then the words are sorted, so that the numbers of categories depend on which
 * there are and not on the order of rows.
 */
#include "data/table/dictionary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/rows/labels.h"
#include "data/text/number.h"

void dictionary_close(struct dictionary *words)
{
    for (uint32_t i = 0; i < words->count; i++)
        mem_free(words->category[i].text);
    mem_free(words->category);
    mem_free(words->slot);
    *words = (struct dictionary){0};
}

/* FNV-1a. */
static uint64_t hash_span(struct span text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < text.size; i++)
        hash = (hash ^ (uint8_t)text.at[i]) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

/* The slot that holds `text` or is free for it. */
static size_t find_slot(const struct dictionary *words, struct span text)
{
    size_t at = hash_span(text) & (words->slots - 1);

    while (words->slot[at] != 0 &&
           !span_is(text, words->category[words->slot[at] - 1].text))
        at = (at + 1) & (words->slots - 1);
    return at;
}

static enum err grow_slots(struct dictionary *words)
{
    const size_t slots = words->slots == 0 ? 64 : words->slots * 2;
    uint32_t *fresh = mem_new(slots, sizeof *fresh);

    if (fresh == NULL)
        return ERR_NOMEM;
    mem_free(words->slot);
    words->slot = fresh;
    words->slots = slots;
    for (uint32_t i = 0; i < words->count; i++) {
        const char *text = words->category[i].text;

        fresh[find_slot(words, (struct span){text, strlen(text)})] = i + 1;
    }
    return ERR_OK;
}

static char *copy_span(struct span text)
{
    char *copy = mem_new(text.size + 1, 1);

    if (copy != NULL && text.size > 0)
        memcpy(copy, text.at, text.size);
    return copy;
}

static enum err add_word(struct dictionary *words, struct span text, size_t at)
{
    if (words->count + 1 > words->capacity) {
        struct category *grown =
            mem_grow(words->category, words->count, words->count + 1,
                     sizeof *grown, &words->capacity);

        if (grown == NULL)
            return ERR_NOMEM;
        words->category = grown;
    }
    words->category[words->count].text = copy_span(text);
    if (words->category[words->count].text == NULL)
        return ERR_NOMEM;
    words->slot[at] = ++words->count;
    return ERR_OK;
}

enum err dictionary_look_up(struct dictionary *words, struct span text,
                            uint32_t *code)
{
    size_t at;
    enum err err;

    if (((size_t)words->count + 1) * 2 > words->slots) {
        err = grow_slots(words);
        if (err != ERR_OK)
            return err;
    }
    at = find_slot(words, text);
    if (words->slot[at] == 0) {
        err = add_word(words, text, at);
        if (err != ERR_OK)
            return err;
    }
    *code = words->slot[at] - 1;
    return ERR_OK;
}

struct numbered {
    struct category category;
    uint32_t old;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct numbered *)a)->category.text,
                  ((const struct numbered *)b)->category.text);
}

/* Which of "9" and "9.0" names their category must not depend on which came
 * first. */
static int by_value(const void *a, const void *b)
{
    const double x = ((const struct numbered *)a)->category.value;
    const double y = ((const struct numbered *)b)->category.value;

    return x < y ? -1 : x > y ? 1 : by_text(a, b);
}

static bool read_values(struct dictionary *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        struct category *const one = &words->category[i];

        /* Long numbers, as ids are, would be rounded to one another. */
        if (number_parse(one->text, strlen(one->text), &one->value) !=
                NUMBER_OK ||
            fabs(one->value) >= LABELS_WHOLE_END)
            return false;
    }
    return true;
}

/* Sort the categories, join those of equal value, and note where each of the
 * old ones went. */
static void sort_categories(struct frame_column *column,
                            struct dictionary *words, struct numbered *sorted,
                            uint32_t *fresh)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < words->count; i++)
        sorted[i] = (struct numbered){words->category[i], i};
    if (words->count > 1)
        qsort(sorted, words->count, sizeof *sorted,
              column->numeric ? by_value : by_text);
    for (uint32_t i = 0; i < words->count; i++) {
        struct category *const one = &sorted[i].category;

        if (count > 0 && column->numeric &&
            words->category[count - 1].value == one->value)
            mem_free(one->text);
        else
            words->category[count++] = *one;
        fresh[sorted[i].old] = count - 1;
    }
    words->count = count;
}

enum err dictionary_settle(struct frame_column *column,
                           struct dictionary *words, uint32_t rows)
{
    struct numbered *sorted = mem_new(words->count, sizeof *sorted);
    uint32_t *fresh = mem_new(words->count, sizeof *fresh);
    enum err err = ERR_NOMEM;

    if (sorted != NULL && fresh != NULL) {
        column->numeric = read_values(words);
        sort_categories(column, words, sorted, fresh);
        frame_renumber(column, rows, fresh);
        column->category = words->category;
        column->categories = words->count;
        words->category = NULL;
        words->count = 0;
        err = ERR_OK;
    }
    mem_free(sorted);
    mem_free(fresh);
    return err;
}
