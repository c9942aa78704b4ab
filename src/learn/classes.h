/*
 * classes.h - what people call the classes of a data set: by the words that
 * the labels were, if they were words, else by the labels.
 */
#ifndef LEARN_CLASSES_H
#define LEARN_CLASSES_H

#include <stddef.h>

#include "data/rows/dataset.h"
#include "data/table/frame.h"

#define CLASS_TEXT     48u
#define CLASSES_LISTED 12u

/* What stands before and behind a word of a list: quotes if it has a comma or a
 * blank in it, else nothing. */
const char *class_mark(const char *word);

/* The name of class k, in quotes as above; `words` has no categories if labels
 * are numbers. */
const char *class_text(const struct dataset *data,
                       const struct frame_column *words, uint32_t k,
                       char text[CLASS_TEXT]);

/* "a, b, c": as many as there is room for, at most `most`, then ", ...". */
void classes_text(const struct dataset *data, const struct frame_column *words,
                  uint32_t most, char *text, size_t size);

#endif /* LEARN_CLASSES_H */
