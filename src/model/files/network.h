/*
 * network.h - a trained network as a safetensors file.
 *
 * Tensors are F32, by torch's names and in torch's order (neural_model.h). What
 * else a network needs is metadata, which is text:
 *
 *     net       conv3x3x32 relu pool2 dense10
 *     shape     28x28x1         of an image
 *     loss      softmax         or squared
 *     divisor   255             of a row's values, before the first layer
 *     mean      152.1           of squared: what an output of 0 says, and ...
 *     spread    77              ... how much more one of 1 does
 *     labels    0 1 2 ...       of softmax, that of each output
 *     profile   the arithmetic that trained it
 *     hash      SHA-256 of all parameters in the order of neural.h
 *     encoder   what is known of the columns, as data/table/encode.h writes it
 *     digest    SHA-256 of all the above, key and text, each ending with a 0
 *
 * A file without hash and digest is another program's and is believed; one with
 * a hash must have the digest, too, and a profile that this release knows.
 */
#ifndef MODEL_FILES_NETWORK_H
#define MODEL_FILES_NETWORK_H

#include <stddef.h>

#include "base/err.h"

struct model_file;

/* As model_file_encode and model_file_decode, which call them. */
MUST_CHECK enum err network_file_encode(const struct model_file *model,
                                        char **bytes, size_t *size);
MUST_CHECK enum err network_file_decode(struct model_file *model,
                                        const char *bytes, size_t size,
                                        struct why *why);

#endif /* MODEL_FILES_NETWORK_H */
