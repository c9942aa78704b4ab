/*
 * codes_plot.c - a code's table as a heat map.
 *
 * One square for each entry, its depth by the size of the coefficient against
 * the largest; blue above zero, red below, nothing where a worker holds
 * nothing.  Plain SVG: any browser shows it.
 */
#include "cli/study/codes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "os/file/output.h"

#define SQUARE     14u
#define MARGIN     60u
#define ENTRY_SIZE 96u /* Bytes of one square, at most. */
#define HEAD_SIZE  2048u

struct text {
    char *bytes;
    size_t size, capacity;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text,
                                                      const char *format, ...)
{
    va_list args;
    int wrote;

    va_start(args, format);
    wrote = vsnprintf(text->bytes + text->size, text->capacity - text->size,
                      format, args);
    va_end(args);
    if (wrote > 0 && (size_t)wrote < text->capacity - text->size)
        text->size += (size_t)wrote;
}

static double largest(const struct code *code)
{
    double most = 0;

    for (uint32_t i = 0; i < code->table.count; i++)
        most = fmax(most, fabs(code->table.value[i]));
    return most > 0 ? most : 1;
}

static void add_head(struct text *text, const struct code *code)
{
    const uint32_t width = MARGIN + code->span_count * SQUARE + SQUARE;
    const uint32_t height = MARGIN + code->slots * SQUARE + SQUARE;

    add(text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"%u\" y=\"18\" font-size=\"13\">%s: %u workers, %u parts, "
        "class %s</text>\n"
        "<text x=\"%u\" y=\"%u\">part</text>\n"
        "<text x=\"8\" y=\"%u\">worker</text>\n",
        width, height, 8u, code->spec.name, code->slots, code->parts,
        exactness_name(code->exactness), MARGIN, MARGIN - 22, MARGIN - 6);
}

static void add_labels(struct text *text, const struct code *code)
{
    const uint32_t every = code->slots > 40 ? 10 : 1;

    for (uint32_t slot = 0; slot < code->slots; slot += every)
        add(text, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">%u</text>\n",
            MARGIN - 6, MARGIN + slot * SQUARE + 11, slot);
    for (uint32_t q = 0; q < code->span_count; q += 10)
        add(text, "<text x=\"%u\" y=\"%u\">%u</text>\n", MARGIN + q * SQUARE,
            MARGIN - 6, q);
}

static void add_entry(struct text *text, uint32_t slot, uint32_t span,
                      double share)
{
    /* From pale to full by the size of the coefficient. */
    const int pale = (int)(225 - 190 * fabs(share));

    add(text, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" ",
        MARGIN + span * SQUARE, MARGIN + slot * SQUARE, SQUARE - 1, SQUARE - 1);
    if (share >= 0)
        add(text, "fill=\"rgb(%d,%d,230)\"/>\n", pale, pale);
    else
        add(text, "fill=\"rgb(225,%d,%d)\"/>\n", pale, pale);
}

enum err codes_plot(const struct code *code, const char *path, struct why *why)
{
    const struct code_table *table = &code->table;
    const double most = largest(code);
    struct text text = {
        .capacity = HEAD_SIZE + ENTRY_SIZE * ((size_t)table->count +
                                              code->slots + code->span_count)};
    enum err err;

    text.bytes = mem_new(text.capacity, 1);
    if (text.bytes == NULL)
        return why_set(why, ERR_NOMEM, "%s: not enough memory", path);
    add_head(&text, code);
    add_labels(&text, code);
    for (uint32_t slot = 0; slot < code->slots; slot++) {
        for (uint32_t i = table->row[slot]; i < table->row[slot + 1]; i++)
            add_entry(&text, slot, table->span[i], table->value[i] / most);
    }
    add(&text, "</svg>\n");
    err = output_save(path, text.bytes, text.size, why);
    mem_free(text.bytes);
    return err;
}
