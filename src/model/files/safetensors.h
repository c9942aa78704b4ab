/*
 * safetensors.h - named tensors in one file, in Hugging Face's format, which
 * torch, numpy, JAX and others read.
 *
 *     u64, little-endian    bytes of the header
 *     header, JSON          {"__metadata__": {"key": "text", ...},
 *                            "name": {"dtype": "F32", "shape": [2, 3],
 *                                     "data_offsets": [0, 24]}, ...}
 *     data                  the tensors, last index fastest, little-endian
 *
 * The reader takes what the format allows and nothing else: no name twice, no
 * byte of the data in two tensors or in none.  It asks for as many bytes as the
 * header has, and a few MiB for what is listed: so at most 65536 tensors, as
 * many texts of metadata, and 4096 bytes to describe a tensor.  Only F32 and
 * F64 are read.
 */
#ifndef MODEL_FILES_SAFETENSORS_H
#define MODEL_FILES_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TENSOR_RANK_MAX   8u
#define TENSORS_HEAD_SIZE 9u /* Bytes that tell it from other files. */

enum tensor_type { TENSOR_F32, TENSOR_F64 };

struct tensor {
    const char *name;
    enum tensor_type type;
    uint32_t rank;
    uint64_t shape[TENSOR_RANK_MAX];
    const void *data; /* As it lies in the file; aligned to nothing. */
};

struct tensor_note {
    const char *key, *text;
};

/* As read: names and texts are its own, numbers lie in the bytes given. */
struct safetensors {
    struct tensor *tensor; /* In the order of the data. */
    size_t count;
    struct tensor_note *note; /* By their keys. */
    size_t notes;
    char *text;
};

/* Numbers of a tensor, and bytes of one of them. */
size_t tensor_numbers(const struct tensor *tensor);
size_t tensor_number_size(enum tensor_type type);

/* Does a file begin with these bytes as this format does? */
bool safetensors_begins(const char *head, size_t size);

/* ERR_FORMAT, ERR_TRUNCATED, ERR_UNSUPPORTED, ERR_NOMEM with a sentence that
 * does not name the file.  The bytes are borrowed until it is closed. */
MUST_CHECK enum err safetensors_read(struct safetensors *file,
                                     const void *bytes, size_t size,
                                     struct why *why);
void safetensors_close(struct safetensors *file); /* Zeroed is safe. */
/* NULL: none of that name. */
const struct tensor *safetensors_find(const struct safetensors *file,
                                      const char *name);
const char *safetensors_note(const struct safetensors *file, const char *key);

/* Metadata and tensors in the order given; texts are UTF-8 (ERR_FORMAT).
 * `bytes` is to be freed with mem_free. */
MUST_CHECK enum err safetensors_write(const struct tensor_note *notes,
                                      size_t note_count,
                                      const struct tensor *tensors,
                                      size_t count, char **bytes, size_t *size);

#endif /* MODEL_FILES_SAFETENSORS_H */
