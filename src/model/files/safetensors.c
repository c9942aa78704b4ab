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
#include "data/span.h"

#define NOTES    "__metadata__"
#define HEAD_MAX (UINT64_C(100) << 20) /* As the format's own readers say. */
#define ALIGN    8u

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

/* One tensor of the header. */
struct entry {
    const char *name;
    json_t *said;
    uint64_t first, end; /* In the data. */
};

static enum err broken(struct why *why, const struct entry *entry,
                       const char *what)
{
    return why_set(why, ERR_FORMAT, "tensor '%s': %s",
                   quote_text(entry->name).text, what);
}

static bool whole_number(const json_t *value, uint64_t *number)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return false;
    *number = (uint64_t)json_integer_value(value);
    return true;
}

static enum err take_type(const struct entry *entry, struct tensor *tensor,
                          struct why *why)
{
    const char *type = json_string_value(json_object_get(entry->said, "dtype"));

    if (type == NULL)
        return broken(why, entry, "no dtype");
    for (uint32_t i = 0; i < TYPES; i++) {
        if (strcmp(type, types[i].name) == 0) {
            tensor->type = (enum tensor_type)i;
            return ERR_OK;
        }
    }
    return why_set(why, ERR_UNSUPPORTED,
                   "tensor '%s': its numbers are %s; F32 and F64 are read",
                   quote_text(entry->name).text, quote_text(type).text);
}

/* Counts up to `limit` numbers, so that no product wraps. */
static enum err take_shape(const struct entry *entry, struct tensor *tensor,
                           uint64_t limit, struct why *why)
{
    const json_t *shape = json_object_get(entry->said, "shape");
    uint64_t numbers = 1;

    if (!json_is_array(shape))
        return broken(why, entry, "no shape");
    if (json_array_size(shape) > TENSOR_RANK_MAX)
        return broken(why, entry, "more than 8 dimensions");
    tensor->rank = (uint32_t)json_array_size(shape);
    for (uint32_t i = 0; i < tensor->rank; i++) {
        uint64_t *const size = &tensor->shape[i];

        if (!whole_number(json_array_get(shape, i), size))
            return broken(why, entry, "its shape is not one of whole numbers");
        if (*size > 0 && numbers > limit / *size)
            return broken(why, entry,
                          "its shape has more numbers than the "
                          "file has bytes");
        numbers *= *size;
    }
    return ERR_OK;
}

static enum err take_entry(struct entry *entry, const char *data, uint64_t size,
                           struct tensor *tensor, struct why *why)
{
    enum err err = take_type(entry, tensor, why);

    if (err == ERR_OK)
        err = take_shape(entry, tensor, size, why);
    if (err != ERR_OK)
        return err;
    if (entry->end - entry->first != bytes_of(tensor))
        return broken(why, entry, "its data_offsets do not fit its shape");
    tensor->name = entry->name;
    tensor->data = data + entry->first;
    return ERR_OK;
}

static enum err take_offsets(struct entry *entry, uint64_t size,
                             struct why *why)
{
    const json_t *offsets = json_object_get(entry->said, "data_offsets");

    if (!json_is_object(entry->said) || json_object_size(entry->said) != 3)
        return broken(why, entry,
                      "not described by dtype, shape and "
                      "data_offsets alone");
    if (json_array_size(offsets) != 2 ||
        !whole_number(json_array_get(offsets, 0), &entry->first) ||
        !whole_number(json_array_get(offsets, 1), &entry->end))
        return broken(why, entry, "its data_offsets are not two whole numbers");
    if (entry->first > entry->end || entry->end > size)
        return broken(why, entry, "its data_offsets lie outside of the data");
    return ERR_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* One behind the other, from the first byte to the last. */
static enum err check_cover(const struct entry *entries, size_t count,
                            uint64_t size, struct why *why)
{
    uint64_t end = 0;

    for (size_t i = 0; i < count; i++) {
        if (entries[i].first < end)
            return broken(why, &entries[i], "it shares bytes with another");
        if (entries[i].first > end)
            return broken(why, &entries[i], "bytes before it are in no tensor");
        end = entries[i].end;
    }
    return end == size ? ERR_OK
                       : why_set(why, ERR_FORMAT,
                                 "bytes behind the last tensor are in none");
}

static enum err take_notes(json_t *notes, struct why *why)
{
    const char *key;
    json_t *value;

    if (!json_is_object(notes))
        return why_set(why, ERR_FORMAT, NOTES " is not an object");
    json_object_foreach(notes, key, value)
    {
        if (!json_is_string(value))
            return why_set(why, ERR_FORMAT, NOTES " '%s' is not a text",
                           quote_text(key).text);
    }
    return ERR_OK;
}

static enum err list_entries(json_t *head, uint64_t size, struct entry *entries,
                             size_t *count, struct why *why)
{
    const char *name;
    json_t *said;

    *count = 0;
    json_object_foreach(head, name, said)
    {
        struct entry *const entry = &entries[*count];
        enum err err;

        entry->name = name;
        entry->said = said;
        *count += strcmp(name, NOTES) != 0;
        err = strcmp(name, NOTES) == 0 ? take_notes(said, why)
                                       : take_offsets(entry, size, why);
        if (err != ERR_OK)
            return err;
    }
    return ERR_OK;
}

static enum err take_tensors(struct safetensors *file, const char *data,
                             uint64_t size, struct why *why)
{
    const size_t room = json_object_size(file->head);
    struct entry *entries = mem_new(room + 1, sizeof *entries);
    enum err err = ERR_NOMEM;

    file->tensor = mem_new(room, sizeof *file->tensor);
    if (entries != NULL && file->tensor != NULL)
        err = list_entries(file->head, size, entries, &file->count, why);
    if (err == ERR_OK) {
        qsort(entries, file->count, sizeof *entries, by_place);
        err = check_cover(entries, file->count, size, why);
    }
    for (size_t i = 0; err == ERR_OK && i < file->count; i++)
        err = take_entry(&entries[i], data, size, &file->tensor[i], why);
    mem_free(entries);
    return err == ERR_NOMEM ? why_set(why, err, "out of memory") : err;
}

static enum err read_head(struct safetensors *file, const char *head,
                          size_t size, struct why *why)
{
    json_error_t error;
    char shown[sizeof error.text];

    if (size == 0 || head[0] != '{')
        return why_set(why, ERR_FORMAT, "its header is no JSON object");
    file->head = json_loadb(head, size, JSON_REJECT_DUPLICATES, &error);
    if (file->head != NULL)
        return ERR_OK;
    if (error.text[0] == '\0' ||
        json_error_code(&error) == json_error_out_of_memory)
        return why_set(why, ERR_NOMEM, "its header: out of memory");
    (void)plain_copy(shown, sizeof shown, error.text, strlen(error.text));
    return why_set(why, ERR_FORMAT, "its header, byte %d: %s", error.position,
                   shown);
}

enum err safetensors_read(struct safetensors *file, const void *bytes,
                          size_t size, struct why *why)
{
    struct reader in = reader_on(bytes, size);
    const uint64_t length = get_u64(&in);
    struct safetensors made = {0};
    const char *head;
    enum err err;

    if (size < sizeof length)
        return why_set(why, ERR_TRUNCATED,
                       "%zu bytes; a safetensors file has at least 8", size);
    if (length > HEAD_MAX || length > size - sizeof length)
        return why_set(why, ERR_TRUNCATED,
                       "its header is said to have %llu bytes; the file has "
                       "%zu, and a header at most 100 MiB",
                       (unsigned long long)length, size);
    head = (const char *)bytes + sizeof length;
    err = read_head(&made, head, (size_t)length, why);
    if (err == ERR_OK)
        err = take_tensors(&made, head + length, size - sizeof length - length,
                           why);
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
    json_decref(file->head);
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
    return json_string_value(
        json_object_get(json_object_get(file->head, NOTES), key));
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
