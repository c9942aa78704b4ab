/*
 * encode_text.c - a fitted encoder as text and back; encode.h has the form.
 *
 * The reader believes nothing: counts are compared with what is left of the
 * text, and what the encoder's searches rely on (ascending categories and
 * pairs) is checked.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "data/span.h"
#include "data/table/encode.h"
#include "data/text/number.h"

#define VERSION "2"

static const char *const gap_names[] = {"refuse", "fill", "flag"};

enum { NUMBER_BYTES = 32, BYTE_MOST = 255 };

/* --- writing -------------------------------------------------------------- */

struct sheet {
    char *data;
    size_t size, capacity;
    bool failed; /* Out of memory. */
};

static void put(struct sheet *sheet, const char *text, size_t size)
{
    if (sheet->failed)
        return;
    if (sheet->size + size > sheet->capacity) {
        char *grown = mem_grow(sheet->data, sheet->size, sheet->size + size, 1,
                               &sheet->capacity);

        sheet->failed = grown == NULL;
        if (sheet->failed)
            return;
        sheet->data = grown;
    }
    memcpy(sheet->data + sheet->size, text, size);
    sheet->size += size;
}

static void put_text(struct sheet *sheet, const char *text)
{
    put(sheet, text, strlen(text));
}

static void put_count(struct sheet *sheet, uint64_t count)
{
    char text[NUMBER_BYTES];
    const int size =
        snprintf(text, sizeof text, " %llu", (unsigned long long)count);

    put(sheet, text, (size_t)size);
}

static void put_line(struct sheet *sheet, const char *key, uint64_t count)
{
    put_text(sheet, key);
    put_count(sheet, count);
    put_text(sheet, "\n");
}

/* 17 digits, with a point whatever the locale. */
static void put_number(struct sheet *sheet, double value)
{
    char text[NUMBER_BYTES];
    const int size = snprintf(text, sizeof text, " %.17g", value);

    for (int i = 0; i < size; i++)
        if (text[i] == ',')
            text[i] = '.';
    put(sheet, text, (size_t)size);
}

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && c != '%' && c != 0x7f;
}

static void put_word(struct sheet *sheet, const char *word)
{
    put(sheet, " ", 1);
    if (*word == '\0')
        put(sheet, "%", 1);
    for (; *word != '\0'; word++) {
        char code[4];

        if (is_plain(*word)) {
            put(sheet, word, 1);
            continue;
        }
        (void)snprintf(code, sizeof code, "%%%02X", (unsigned char)*word);
        put(sheet, code, 3);
    }
}

static void put_categories(struct sheet *sheet,
                           const struct frame_column *known)
{
    put_count(sheet, known->categories);
    for (uint32_t i = 0; i < known->categories; i++)
        put_word(sheet, known->category[i].text);
    put_text(sheet, "\n");
}

static void put_pair(struct sheet *sheet, const struct encoded_pair *pair)
{
    put_text(sheet, "pair");
    put_count(sheet, pair->of.a);
    put_count(sheet, pair->of.b);
    put_count(sheet, pair->count);
    for (uint32_t i = 0; i < pair->count; i++) {
        put_count(sheet, pair->key[i] >> 32);
        put_count(sheet, (uint32_t)pair->key[i]);
    }
    put_text(sheet, "\n");
}

static void put_column(struct sheet *sheet, const struct schema *schema,
                       uint32_t j, const struct encoded_column *column)
{
    put_text(sheet, !column->categorical    ? "number"
                    : column->known.numeric ? "numbers"
                                            : "words");
    put_count(sheet, (uint64_t)schema->at[j] + 1);
    put_word(sheet, schema->name != NULL ? schema->name[j] : "");
    if (column->categorical) {
        put_word(sheet, gap_names[column->gap]);
        put_categories(sheet, &column->known);
        return;
    }
    put_number(sheet, column->offset);
    put_number(sheet, column->factor);
    put_word(sheet, gap_names[column->gap]);
    put_number(sheet, column->fill);
    put_text(sheet, "\n");
}

static void put_table(struct sheet *sheet, const struct encoder *encoder)
{
    const struct schema *const schema = &encoder->schema;
    const bool inside = schema->label < schema->table;

    put_text(sheet, "table");
    put_count(sheet, schema->table);
    put_text(sheet, schema->name != NULL ? " names\nlabel" : " bare\nlabel");
    put_count(sheet, inside ? (uint64_t)schema->label + 1 : 0);
    put_word(sheet, schema->label_name);
    put_text(sheet, "\n");
    if (encoder->classes.categories > 0) {
        put_text(sheet, "classes");
        put_categories(sheet, &encoder->classes);
    }
    put_line(sheet, "columns", encoder->columns);
    for (uint32_t j = 0; j < encoder->columns; j++)
        put_column(sheet, schema, j, &encoder->column[j]);
    put_line(sheet, "pairs", encoder->pairs);
    for (uint32_t p = 0; p < encoder->pairs; p++)
        put_pair(sheet, &encoder->pair[p]);
}

enum err encoder_to_text(const struct encoder *encoder, char **text,
                         size_t *size)
{
    struct sheet sheet = {0};

    CHECK(encoder->kind != ENCODER_NONE);
    CHECK(!encoder->constant); /* Models have their intercept for that. */
    put_text(&sheet, "muster encoder " VERSION "\n");
    if (encoder->wide)
        put_text(&sheet, "values f64\n");
    if (encoder->byte > 0)
        put_line(&sheet, "bytes", encoder->byte);
    if (encoder->kind == ENCODER_ROWS)
        put_text(&sheet, encoder->from_zero ? "index 0\n" : "index 1\n");
    else
        put_table(&sheet, encoder);
    put_text(&sheet, "end\n");
    if (sheet.failed) {
        mem_free(sheet.data);
        return ERR_NOMEM;
    }
    *text = sheet.data;
    *size = sheet.size;
    return ERR_OK;
}

/* --- reading -------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r';
}

/* The next word; empty at the end. */
static struct span next_word(struct span *in)
{
    struct span word;

    while (in->size > 0 && is_blank(*in->at)) {
        in->at++;
        in->size--;
    }
    word = (struct span){in->at, 0};
    while (in->size > 0 && !is_blank(*in->at)) {
        in->at++;
        in->size--;
        word.size++;
    }
    return word;
}

static enum err say_short(struct why *why)
{
    return why_set(why, ERR_TRUNCATED, "the text ends too early");
}

static enum err say_nomem(struct why *why)
{
    return why_set(why, ERR_NOMEM, "out of memory");
}

static enum err expect(struct span *in, const char *key, struct why *why)
{
    const struct span word = next_word(in);

    if (word.size == 0)
        return say_short(why);
    return span_is(word, key)
               ? ERR_OK
               : why_set(why, ERR_FORMAT, "'%s' where '%s' belongs",
                         quote(word).text, key);
}

/* A whole number up to `most`. */
static enum err read_count(struct span *in, uint32_t most, uint32_t *count,
                           struct why *why)
{
    const struct span word = next_word(in);
    uint64_t value = 0;

    if (word.size == 0)
        return say_short(why);
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] < '0' || word.at[i] > '9' || value > most)
            return why_set(why, ERR_FORMAT, "'%s' is no number up to %u",
                           quote(word).text, most);
        value = value * 10 + (uint64_t)(word.at[i] - '0');
    }
    if (value > most)
        return why_set(why, ERR_FORMAT, "'%s' is no number up to %u",
                       quote(word).text, most);
    *count = (uint32_t)value;
    return ERR_OK;
}

/* The same of things that take two bytes each, at least: a lying count cannot
 * make us allocate much more than the text is long. */
static enum err read_size(struct span *in, uint32_t *count, struct why *why)
{
    const enum err err = read_count(in, DATA_COLS_MAX, count, why);

    return err == ERR_OK && *count > in->size / 2 ? say_short(why) : err;
}

static enum err read_number(struct span *in, double *value, struct why *why)
{
    const struct span word = next_word(in);

    if (word.size == 0)
        return say_short(why);
    return number_parse(word.at, word.size, value) == NUMBER_OK
               ? ERR_OK
               : why_set(why, ERR_FORMAT, "'%s' is not a finite number",
                         quote(word).text);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undo put_word; `out` has room for the word and a NUL. */
static bool unescape(struct span word, char *out)
{
    size_t used = 0;

    if (word.size == 1 && *word.at == '%')
        return true;
    for (size_t i = 0; i < word.size; i++) {
        int high, low;

        if (is_plain(word.at[i])) {
            out[used++] = word.at[i];
            continue;
        }
        if (word.at[i] != '%' || i + 2 >= word.size)
            return false;
        high = hex_digit(word.at[i + 1]);
        low = hex_digit(word.at[i + 2]);
        if (high < 0 || low < 0 || high + low == 0)
            return false;
        out[used++] = (char)(16 * high + low);
        i += 2;
    }
    return true;
}

static enum err read_word(struct span *in, char **text, struct why *why)
{
    const struct span word = next_word(in);
    char *made;

    if (word.size == 0)
        return say_short(why);
    made = mem_new(word.size + 1, 1);
    if (made == NULL)
        return say_nomem(why);
    if (!unescape(word, made)) {
        mem_free(made);
        return why_set(why, ERR_FORMAT, "'%s' is no word", quote(word).text);
    }
    *text = made;
    return ERR_OK;
}

/* Searches go by halves: categories must ascend. */
static bool ascends(const struct frame_column *known, uint32_t i)
{
    const struct category *const one = &known->category[i];

    if (i == 0)
        return true;
    return known->numeric ? one[-1].value < one->value
                          : strcmp(one[-1].text, one->text) < 0;
}

static enum err read_category(struct span *in, struct frame_column *known,
                              struct why *why)
{
    struct category *const one = &known->category[known->categories];
    const enum err err = read_word(in, &one->text, why);

    if (err != ERR_OK)
        return err;
    known->categories++; /* Its text is freed with the others. */
    if (known->numeric &&
        number_parse(one->text, strlen(one->text), &one->value) != NUMBER_OK)
        return why_set(why, ERR_FORMAT, "category '%s' is not a number",
                       quote_text(one->text).text);
    return ascends(known, known->categories - 1)
               ? ERR_OK
               : why_set(why, ERR_FORMAT, "category '%s' is out of order",
                         quote_text(one->text).text);
}

static enum err read_categories(struct span *in, bool numeric,
                                struct frame_column *known, struct why *why)
{
    uint32_t count = 0;
    enum err err = read_size(in, &count, why);

    if (err != ERR_OK)
        return err;
    known->categorical = true;
    known->numeric = numeric;
    known->category = mem_new(count, sizeof *known->category);
    if (known->category == NULL)
        return say_nomem(why);
    for (uint32_t i = 0; err == ERR_OK && i < count; i++)
        err = read_category(in, known, why);
    return err;
}

static enum err read_gap(struct span *in, enum gap *gap, struct why *why)
{
    const struct span word = next_word(in);

    if (word.size == 0)
        return say_short(why);
    for (int i = 0; i < 3; i++)
        if (span_is(word, gap_names[i])) {
            *gap = (enum gap)i;
            return ERR_OK;
        }
    return why_set(why, ERR_FORMAT, "'%s' where refuse, fill or flag belongs",
                   quote(word).text);
}

static enum err read_words(struct span *in, bool numeric,
                           struct encoded_column *column, struct why *why)
{
    const enum err err = read_gap(in, &column->gap, why);

    column->categorical = true;
    return err == ERR_OK ? read_categories(in, numeric, &column->known, why)
                         : err;
}

static enum err read_scale(struct span *in, struct encoded_column *column,
                           struct why *why)
{
    enum err err = read_number(in, &column->offset, why);

    if (err == ERR_OK)
        err = read_number(in, &column->factor, why);
    if (err == ERR_OK)
        err = read_gap(in, &column->gap, why);
    return err == ERR_OK ? read_number(in, &column->fill, why) : err;
}

/* Where the column was and what it was called. */
static enum err read_place(struct span *in, struct schema *schema, uint32_t j,
                           struct why *why)
{
    uint32_t at = 0;
    char *name = NULL;
    enum err err = read_count(in, schema->table, &at, why);

    if (err == ERR_OK)
        err = read_word(in, &name, why);
    if (err != ERR_OK)
        return err;
    if (schema->name != NULL)
        schema->name[j] = name;
    else
        mem_free(name);
    if (at == 0 || (j > 0 && at - 1 <= schema->at[j - 1]) ||
        at - 1 == schema->label)
        return why_set(why, ERR_FORMAT, "column %u is out of order", at);
    schema->at[j] = at - 1;
    return ERR_OK;
}

static enum err read_column(struct span *in, struct encoder *encoder,
                            uint32_t j, struct why *why)
{
    struct encoded_column *const column = &encoder->column[j];
    const struct span key = next_word(in);
    const bool numbers = span_is(key, "numbers");
    const bool words = span_is(key, "words");
    enum err err;

    if (key.size == 0)
        return say_short(why);
    if (!numbers && !words && !span_is(key, "number"))
        return why_set(why, ERR_FORMAT, "'%s' is no kind of column",
                       quote(key).text);
    err = read_place(in, &encoder->schema, j, why);
    if (err != ERR_OK)
        return err;
    encoder->schema.numeric |= !numbers && !words;
    return numbers || words ? read_words(in, numbers, column, why)
                            : read_scale(in, column, why);
}

static enum err read_columns(struct span *in, struct encoder *encoder,
                             bool named, struct why *why)
{
    struct schema *const schema = &encoder->schema;
    uint32_t count = 0;
    enum err err = expect(in, "columns", why);

    if (err == ERR_OK)
        err = read_size(in, &count, why);
    if (err == ERR_OK && count == 0)
        err = why_set(why, ERR_FORMAT, "no columns");
    if (err != ERR_OK)
        return err;
    encoder->column = mem_new(count, sizeof *encoder->column);
    schema->at = mem_new(count, sizeof *schema->at);
    schema->name = named ? mem_new(count, sizeof *schema->name) : NULL;
    if (encoder->column == NULL || schema->at == NULL ||
        (named && schema->name == NULL))
        return say_nomem(why);
    encoder->kind = ENCODER_TABLE;
    encoder->columns = count;
    schema->features = count;
    for (uint32_t j = 0; err == ERR_OK && j < count; j++)
        err = read_column(in, encoder, j, why);
    return err;
}

/* A category of a column, in a pair. */
static enum err read_code(struct span *in, const struct encoded_column *column,
                          uint32_t *code, struct why *why)
{
    return read_count(in, column->known.categories - 1, code, why);
}

static enum err read_keys(struct span *in, const struct encoder *encoder,
                          struct encoded_pair *pair, uint32_t count,
                          struct why *why)
{
    enum err err = ERR_OK;

    for (uint32_t i = 0; err == ERR_OK && i < count; i++) {
        uint32_t a = 0;
        uint32_t b = 0;

        err = read_code(in, &encoder->column[pair->of.a], &a, why);
        if (err == ERR_OK)
            err = read_code(in, &encoder->column[pair->of.b], &b, why);
        pair->key[i] = (uint64_t)a << 32 | b;
        if (err == ERR_OK && i > 0 && pair->key[i] <= pair->key[i - 1])
            err = why_set(why, ERR_FORMAT, "pairs are out of order");
    }
    return err;
}

static bool has_categories(const struct encoder *encoder, uint32_t column)
{
    return column < encoder->columns &&
           encoder->column[column].known.categories > 0;
}

static enum err read_pair(struct span *in, const struct encoder *encoder,
                          struct encoded_pair *pair, struct why *why)
{
    enum err err = expect(in, "pair", why);

    if (err == ERR_OK)
        err = read_count(in, DATA_COLS_MAX, &pair->of.a, why);
    if (err == ERR_OK)
        err = read_count(in, DATA_COLS_MAX, &pair->of.b, why);
    if (err == ERR_OK)
        err = read_size(in, &pair->count, why);
    if (err != ERR_OK)
        return err;
    if (!has_categories(encoder, pair->of.a) ||
        !has_categories(encoder, pair->of.b))
        return why_set(why, ERR_FORMAT, "a pair of columns %u and %u",
                       pair->of.a, pair->of.b);
    pair->key = mem_new(pair->count, sizeof *pair->key);
    return pair->key == NULL ? say_nomem(why)
                             : read_keys(in, encoder, pair, pair->count, why);
}

static enum err read_pairs(struct span *in, struct encoder *encoder,
                           struct why *why)
{
    uint32_t count = 0;
    enum err err = expect(in, "pairs", why);

    if (err == ERR_OK)
        err = read_size(in, &count, why);
    if (err != ERR_OK)
        return err;
    encoder->pair = mem_new(count, sizeof *encoder->pair);
    if (encoder->pair == NULL)
        return say_nomem(why);
    encoder->pairs = count;
    for (uint32_t p = 0; err == ERR_OK && p < count; p++)
        err = read_pair(in, encoder, &encoder->pair[p], why);
    return err;
}

/* Label and classes. */
static enum err read_label(struct span *in, struct encoder *encoder,
                           struct why *why)
{
    struct schema *const schema = &encoder->schema;
    struct span after;
    uint32_t at = 0;
    enum err err = expect(in, "label", why);

    if (err == ERR_OK)
        err = read_count(in, schema->table, &at, why);
    if (err == ERR_OK)
        err = read_word(in, &schema->label_name, why);
    if (err != ERR_OK)
        return err;
    schema->label = at == 0 ? schema->table : at - 1;
    after = *in;
    if (!span_is(next_word(&after), "classes"))
        return ERR_OK;
    *in = after;
    return read_categories(in, false, &encoder->classes, why);
}

/* "table" is read already. */
static enum err read_table(struct span *in, struct encoder *encoder,
                           struct why *why)
{
    bool named = false;
    enum err err =
        read_count(in, DATA_COLS_MAX + 2, &encoder->schema.table, why);

    if (err == ERR_OK) {
        const struct span word = next_word(in);

        named = span_is(word, "names");
        if (!named && !span_is(word, "bare"))
            err = why_set(why, ERR_FORMAT, "'%s' where names or bare belongs",
                          quote(word).text);
    }
    if (err == ERR_OK)
        err = read_label(in, encoder, why);
    if (err == ERR_OK)
        err = read_columns(in, encoder, named, why);
    return err == ERR_OK ? read_pairs(in, encoder, why) : err;
}

/* "index" is read already. */
static enum err read_index(struct span *in, struct encoder *encoder,
                           struct why *why)
{
    uint32_t first = 0;
    const enum err err = read_count(in, 1, &first, why);

    encoder->kind = ENCODER_ROWS;
    encoder->from_zero = first == 0;
    return err;
}

static enum err read_version(struct span *in, struct why *why)
{
    struct span version;
    enum err err = expect(in, "muster", why);

    if (err == ERR_OK)
        err = expect(in, "encoder", why);
    if (err != ERR_OK)
        return err;
    version = next_word(in);
    return span_is(version, VERSION)
               ? ERR_OK
               : why_set(why, ERR_UNSUPPORTED,
                         "version '%s'; this program reads version " VERSION,
                         quote(version).text);
}

static enum err read_form(struct span *in, struct encoder *encoder,
                          struct why *why)
{
    struct span word = next_word(in);
    enum err err = ERR_OK;

    if (span_is(word, "values")) {
        encoder->wide = true;
        err = expect(in, "f64", why);
        word = next_word(in);
    }
    if (err == ERR_OK && span_is(word, "bytes")) {
        err = read_count(in, BYTE_MOST, &encoder->byte, why);
        word = next_word(in);
    }
    if (err != ERR_OK)
        return err;
    if (word.size == 0)
        return say_short(why);
    if (span_is(word, "index"))
        return read_index(in, encoder, why);
    if (span_is(word, "table"))
        return read_table(in, encoder, why);
    return why_set(why, ERR_FORMAT, "'%s' where table or index belongs",
                   quote(word).text);
}

static enum err read_all(struct span *in, struct encoder *encoder,
                         struct why *why)
{
    enum err err = read_version(in, why);

    if (err == ERR_OK)
        err = read_form(in, encoder, why);
    if (err == ERR_OK)
        err = expect(in, "end", why);
    if (err == ERR_OK && next_word(in).size > 0)
        err = why_set(why, ERR_FORMAT, "text follows its end");
    if (err == ERR_OK && encoder_place_columns(encoder) != ERR_OK)
        err = why_set(why, ERR_TOOBIG, "more than %u columns", DATA_COLS_MAX);
    return err;
}

enum err encoder_from_text(struct encoder *encoder, const char *text,
                           size_t size, struct why *why)
{
    struct encoder made = {0};
    struct span in = {text, size};
    const enum err err = read_all(&in, &made, why);

    if (err != ERR_OK) {
        encoder_close(&made);
        return err;
    }
    *encoder = made;
    return ERR_OK;
}
