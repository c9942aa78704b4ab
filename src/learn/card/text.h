/*
 * text.h - a model card as lines of text.
 *
 *     model card FILE
 *     sha256     of that file
 *     trained    muster 1.0, code plain, steps 3, ...
 *     data       source rows.svm, hash ..., rows 400, ...
 *
 * A card may be anybody's: no control character of it is shown.
 */
#ifndef LEARN_CARD_TEXT_H
#define LEARN_CARD_TEXT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/hash.h"

/* `whole`: with the lines that name the file.  To be freed with mem_free; NULL:
 * out of memory. */
char *card_text(json_t *card, bool whole);
/* Of which file a whole text is the card, as sha256sum says it; false: it is
 * none. */
bool card_text_sum(const char *text, size_t size, char sum[DIGEST_TEXT]);

#endif /* LEARN_CARD_TEXT_H */
