/*
 * safetensors.c - a reader and a writer for tensors in Hugging Face's format.
 * The reader trusts nothing: every number of the header is judged before it is
 * used.
 */
#include "model/files/safetensors.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "data/span.h"
#include "model/files/json_text.h"

#define NOTES    "__metadata__"
#define HEAD_MAX (UINT64_C(100) << 20) /* As the format's own readers say. */
#define ALIGN    8u

/* Bounds of what a header costs beyond its own bytes.  A description of legal
 * numbers has some 300 bytes; networks have 512 tensors at most. */
#define DESCRIPTION_MAX 4096u
#define ITEMS_MAX       65536u /* Tensors; texts of the metadata. */
#define MEMBER_MIN      6u     /* Bytes: "":"", is the shortest. */

#define NOT_DESCRIBED "not described by dtype, shape and data_offsets alone"

static const struct {
    const char *name;
    size_t size;
} types[] = {[TENSOR_F32] = {"F32", 4}, [TENSOR_F64] = {"F64", 8}};
enum { TYPES = sizeof types / sizeof *types };

size_t tensor_number_size(enum tensor_type type)
{
    return types[type].size;
}

size_t tensor_numbers(const struct tensor *tensor)
{
    size_t count = 1;

    for (uint32_t i = 0; i < tensor->rank; i++)
        count *= (size_t)tensor->shape[i];
    return count;
}

static size_t bytes_of(const struct tensor *tensor)
{
    return tensor_numbers(tensor) * tensor_number_size(tensor->type);
}

bool safetensors_begins(const char *head, size_t size)
{
    struct reader in = reader_on(head, size);
    const uint64_t length = get_u64(&in);

    return size >= TENSORS_HEAD_SIZE && length <= HEAD_MAX && head[8] == '{';
}

/* --- reading ------------------------------------------------------------- */

static enum err broken(struct why *why, const char *name, const char *what)
{
    return why_set(why, ERR_FORMAT, "tensor '%s': %s", quote_text(name).text,
                   what);
}

static enum err no_memory(struct why *why)
{
    return why_set(why, ERR_NOMEM, "its header: out of memory");
}

static bool whole_number(const json_t *value, uint64_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

static enum err take_type(const json_t *said, struct tensor *tensor,
                          struct why *why)
{
    const char *type = json_string_value(json_object_get(said, "dtype"));

    if (type == NULL)
        return broken(why, tensor->name, "no dtype");
    for (uint32_t i = 0; i < TYPES; i++) {
        if (strcmp(type, types[i].name) == 0) {
            tensor->type = (enum tensor_type)i;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_UNSUPPORTED,
                   "tensor '%s': its numbers are %s; F32 and F64 are read",
                   quote_text(tensor->name).text, quote_text(type).text);
}

/* Counts up to `limit` numbers, so that no product wraps. */
static enum err take_shape(const json_t *said, struct tensor *tensor,
                           uint64_t limit, struct why *why)
{
    const json_t *shape = json_object_get(said, "shape");
    uint64_t numbers = 1;

    if (!json_is_array(shape))
        return broken(why, tensor->name, "no shape");
    if (json_array_size(shape) > TENSOR_RANK_MAX)
        return broken(why, tensor->name, "more than 8 dimensions");
    tensor->rank = (uint32_t)json_array_size(shape);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint64_t *const size = &tensor->shape[i];

        if (!whole_number(json_array_get(shape, i), size))
            return broken(why, tensor->name,
                          "its shape is not one of whole numbers");
        if (*size > 0 && numbers > limit / *size)
            return broken(why, tensor->name,
                          "its shape has more numbers than the "
                          "file has bytes");
        numbers *= *size;
    }
    return ERR_OK;
}

static enum err take_offsets(const json_t *said, const char *name,
                             uint64_t size, uint64_t place[2], struct why *why)
{
    const json_t *offsets = json_object_get(said, "data_offsets");

    if (json_object_size(said) != 3)
        return broken(why, name, NOT_DESCRIBED);
    if (json_array_size(offsets) != 2 ||
        !whole_number(json_array_get(offsets, 0), &place[0]) ||
        !whole_number(json_array_get(offsets, 1), &place[1]))
        return broken(why, name, "its data_offsets are not two whole numbers");
    if (place[0] > place[1] || place[1] > size)
        return broken(why, name, "its data_offsets lie outside of the data");
    return ERR_OK;
}

/* What is said of a tensor whose name is known. */
static enum err take_said(const json_t *said, struct span data,
                          struct tensor *tensor, struct why *why)
{
    uint64_t place[2] = {0, 0};
    enum err err = take_offsets(said, tensor->name, data.size, place, why);

    if (err == ERR_OK)
        err = take_type(said, tensor, why);
    if (err == ERR_OK)
        err = take_shape(said, tensor, data.size, why);
    if (err != ERR_OK)
        return err;
    if (place[1] - place[0] != bytes_of(tensor))
        return broken(why, tensor->name,
                      "its data_offsets do not fit its shape");
    tensor->data = data.at + place[0];
    return ERR_OK;
}

/* Where and why the library refused a description, of which it was shown
 * `shown` bytes. */
static enum err refused(struct json_text *in, const char *name, size_t shown,
                        const json_error_t *error)
{
    char text[sizeof error->text];

    if (error->text[0] == '\0' ||
        json_error_code(error) == json_error_out_of_memory)
        return no_memory(in->why);
    if (shown < (size_t)(in->end - in->at) &&
        (size_t)error->position + UTF8_SIZE > shown)
        return why_set(in->why, ERR_FORMAT,
                       "tensor '%s': its description has more than %u bytes; "
                       "dtype, shape and data_offsets need fewer",
                       quote_text(name).text, DESCRIPTION_MAX);
    in->at += error->position - 1; /* The last byte that it took. */
    (void)plain_copy(text, sizeof text, error->text, strlen(error->text));
    return json_text_broken(in, text);
}

/* The library makes a tree of one description at a time. */
static enum err take_tensor(struct json_text *in, struct span data,
                            struct tensor *tensor)
{
    size_t shown;
    json_error_t error;
    json_t *said;
    enum err err;

    if (json_text_peek(in) != '{')
        return in->at == in->end ? json_text_broken(in, "a value is missing")
                                 : broken(in->why, tensor->name, NOT_DESCRIBED);
    shown = (size_t)(in->end - in->at);
    if (shown > DESCRIPTION_MAX)
        shown = DESCRIPTION_MAX;
    said = json_loadb(in->at, shown,
                      JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (said == NULL)
        return refused(in, tensor->name, shown, &error);
    in->at += error.position;
    err = take_said(said, data, tensor, in->why);
    json_decref(said);
    return err;
}

/* Of whatever has its name first. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_place(const void *a, const void *b)
{
    const struct tensor *const x = a, *const y = b;
    const size_t m = bytes_of(x), n = bytes_of(y);

    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    return m != n ? (m > n) - (m < n) : by_name(a, b);
}

static enum err twice(struct why *why, const char *name)
{
    return why_set(why, ERR_FORMAT, "its header has '%s' twice",
                   quote_text(name).text);
}

/* None may be twice. */
static enum err sort_names(void *items, size_t count, size_t size,
                           struct why *why)
{
    qsort(items, count, size, by_name);
    for (size_t i = 1; i < count; i++) {
        const void *const item = (const char *)items + i * size;

        if (by_name((const char *)item - size, item) == 0)
            return twice(why, *(const char *const *)item);
    }
    return ERR_OK;
}

/* One behind the other, from the first byte to the last. */
static enum err check_cover(const struct safetensors *file, struct span data,
                            struct why *why)
{
    const char *end = data.at;

    for (size_t i = 0; i < file->count; i++) {
        const struct tensor *const tensor = &file->tensor[i];
        const char *const first = tensor->data;

        if (first < end)
            return broken(why, tensor->name, "it shares bytes with another");
        if (first > end)
            return broken(why, tensor->name,
                          "bytes before it are in no tensor");
        end = first + bytes_of(tensor);
    }
    return end == data.at + data.size
               ? ERR_OK
               : why_set(why, ERR_FORMAT,
                         "bytes behind the last tensor are in none");
}

static enum err too_many(struct why *why, size_t room, const char *what)
{
    return why_set(why, ERR_UNSUPPORTED,
                   "more than %zu %s; up to that many are read", room, what);
}

static enum err take_notes(struct safetensors *file, struct json_text *in,
                           size_t room)
{
    enum err err = ERR_OK;

    if (!json_text_pass(in, '{'))
        return why_set(in->why, ERR_FORMAT, NOTES " is not an object");
    while (err == ERR_OK) {
        struct tensor_note note;

        err = json_text_key(in, file->notes, &note.key);
        if (err != ERR_OK || note.key == NULL)
            break;
        if (file->notes == room)
            return too_many(in->why, room, "texts in " NOTES);
        if (json_text_peek(in) != '"')
            return why_set(in->why, ERR_FORMAT, NOTES " '%s' is not a text",
                           quote_text(note.key).text);
        err = json_text_string(in, &note.text);
        if (err == ERR_OK)
            file->note[file->notes++] = note;
    }
    return err;
}

static enum err take_member(struct safetensors *file, struct json_text *in,
                            size_t room, const char *name, struct span data)
{
    struct tensor *const tensor = &file->tensor[file->count];

    if (strcmp(name, NOTES) == 0)
        return take_notes(file, in, room);
    if (file->count == room)
        return too_many(in->why, room, "tensors");
    tensor->name = name;
    file->count++;
    return take_tensor(in, data, tensor);
}

static enum err take_head(struct safetensors *file, struct json_text *in,
                          size_t room, struct span data)
{
    const char *const nul = memchr(in->begin, 0, (size_t)(in->end - in->begin));
    const char *name = "";
    enum err err = ERR_OK;
    bool noted = false;

    if (in->begin == in->end || *in->begin != '{')
        return why_set(in->why, ERR_FORMAT, "its header is no JSON object");
    if (nul != NULL) { /* The library passes one behind a number. */
        in->at = nul;
        return json_text_broken(in, "a NUL byte, which JSON has none of");
    }
    (void)json_text_pass(in, '{');
    while (err == ERR_OK) {
        err = json_text_key(in, file->count + noted, &name);
        if (err != ERR_OK || name == NULL)
            break;
        if (strcmp(name, NOTES) == 0 && noted)
            return twice(in->why, NOTES);
        noted = noted || strcmp(name, NOTES) == 0;
        err = take_member(file, in, room, name, data);
    }
    if (err == ERR_OK && (json_text_peek(in) != '\0' || in->at < in->end))
        err = json_text_broken(in, "nothing may stand behind the object");
    return err;
}
static enum err read_all(struct safetensors *file, struct span head,
                         struct span data, struct why *why)
{
    const size_t most = head.size / MEMBER_MIN + 1;
    const size_t room = most < ITEMS_MAX ? most : ITEMS_MAX;
    struct json_text in = {head.at, head.at, head.at + head.size, NULL, why};
    enum err err;

    file->tensor = mem_new(room, sizeof *file->tensor);
    file->note = mem_new(room, sizeof *file->note);
    file->text = in.room = mem_new(head.size, 1);
    if (file->tensor == NULL || file->note == NULL || file->text == NULL)
        return no_memory(why);
    err = take_head(file, &in, room, data);
    if (err == ERR_OK)
        err = sort_names(file->note, file->notes, sizeof *file->note, why);
    if (err == ERR_OK)
        err = sort_names(file->tensor, file->count, sizeof *file->tensor, why);
    if (err != ERR_OK)
        return err;
    qsort(file->tensor, file->count, sizeof *file->tensor, by_place);
    return check_cover(file, data, why);
}

enum err safetensors_read(struct safetensors *file, const void *bytes,
                          size_t size, struct why *why)
{
    struct reader in = reader_on(bytes, size);
    const uint64_t length = get_u64(&in);
    struct safetensors made = {0};
    struct span head, data;
    enum err err;

    if (size < sizeof length)
        return why_set(why, ERR_TRUNCATED,
                       "%zu bytes; a safetensors file has at least 8", size);
    if (length > HEAD_MAX || length > size - sizeof length)
        return why_set(why, ERR_TRUNCATED,
                       "its header is said to have %llu bytes; the file has "
                       "%zu, and a header at most 100 MiB",
                       (unsigned long long)length, size);
    head = (struct span){(const char *)bytes + sizeof length, (size_t)length};
    data = (struct span){head.at + length, size - sizeof length - head.size};
    err = read_all(&made, head, data, why);
    if (err != ERR_OK) {
        safetensors_close(&made);
        return err;
    }
    *file = made;
    return ERR_OK;
}

void safetensors_close(struct safetensors *file)
{
    mem_free(file->tensor);
    mem_free(file->note);
    mem_free(file->text);
    *file = (struct safetensors){0};
}

const struct tensor *safetensors_find(const struct safetensors *file,
                                      const char *name)
{
    for (size_t i = 0; i < file->count; i++) {
        if (strcmp(file->tensor[i].name, name) == 0)
            return &file->tensor[i];
    }
    return NULL;
}

const char *safetensors_note(const struct safetensors *file, const char *key)
{
    const struct tensor_note wanted = {key, NULL};
    const struct tensor_note *const found =
        bsearch(&wanted, file->note, file->notes, sizeof wanted, by_name);

    return found == NULL ? NULL : found->text;
}

/* --- writing ------------------------------------------------------------- */

static json_t *notes_json(const struct tensor_note *notes, size_t count)
{
    json_t *object = json_object();

    for (size_t i = 0; i < count; i++) {
        if (json_object_set_new(object, notes[i].key,
                                json_string(notes[i].text)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *tensor_json(const struct tensor *tensor, size_t first)
{
    const size_t end = first + bytes_of(tensor);
    json_t *shape = json_array();

    for (uint32_t i = 0; i < tensor->rank; i++)
        (void)json_array_append_new(shape,
                                    json_integer((json_int_t)tensor->shape[i]));
    return json_pack("{s:s, s:o, s:[II]}", "dtype", types[tensor->type].name,
                     "shape", shape, "data_offsets", (json_int_t)first,
                     (json_int_t)end);
}

/* NULL: no memory, or a text that is no UTF-8. */
static json_t *head_json(const struct tensor_note *notes, size_t note_count,
                         const struct tensor *tensors, size_t count)
{
    json_t *head = json_object();
    size_t first = 0;
    int bad = 0;

    if (note_count > 0)
        bad |= json_object_set_new(head, NOTES, notes_json(notes, note_count));
    for (size_t i = 0; i < count; i++) {
        bad |= json_object_set_new(head, tensors[i].name,
                                   tensor_json(&tensors[i], first));
        first += bytes_of(&tensors[i]);
    }
    if (bad == 0)
        return head;
    json_decref(head);
    return NULL;
}

enum err safetensors_write(const struct tensor_note *notes, size_t note_count,
                           const struct tensor *tensors, size_t count,
                           char **bytes, size_t *size)
{
    json_t *head = head_json(notes, note_count, tensors, count);
    const size_t said = json_dumpb(head, NULL, 0, JSON_COMPACT);
    const size_t padded = (said + ALIGN - 1) / ALIGN * ALIGN;
    size_t whole = sizeof(uint64_t) + padded;
    struct writer out;
    char *made = NULL;

    if (head == NULL)
        return ERR_FORMAT;
    for (size_t i = 0; i < count; i++)
        whole += bytes_of(&tensors[i]);
    if (said > 0)
        made = mem_new(whole, 1);
    if (made != NULL) {
        out = writer_on(made, whole);
        put_u64(&out, padded);
        memset(made + sizeof(uint64_t), ' ', padded);
        CHECK(json_dumpb(head, (char *)put_room(&out, padded), padded,
                         JSON_COMPACT) == said);
        for (size_t i = 0; i < count; i++)
            put_bytes(&out, tensors[i].data, bytes_of(&tensors[i]));
        *bytes = made;
        *size = whole;
    }
    json_decref(head);
    return made == NULL ? ERR_NOMEM : ERR_OK;
}
