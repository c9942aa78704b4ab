/*
 * certificates.h - what codes were found to be good for, kept between runs.
 *
 * A certificate depends on the code, n, s and the seed alone and takes up to
 * some seconds to make.  The last CODE_MEMOS lie as text in the user's cache
 * folder ($XDG_CACHE_HOME/muster, else ~/.cache/muster).  It is a cache: a file
 * that is not there, not ours or of another version counts as empty, and one
 * that cannot be written changes nothing.
 */
#ifndef LEARN_CERTIFICATES_H
#define LEARN_CERTIFICATES_H

#include "code/code.h"

void certificates_load(struct code_memory *memory);
void certificates_save(const struct code_memory *memory);

#endif /* LEARN_CERTIFICATES_H */
