/*
 * classes.c - class names for people: the words of the file where there were
 * words, else numbers.
 */
#include "learn/classes.h"

#include <stdio.h>
#include <string.h>

#include "data/rows/labels.h"
#include "data/span.h"

const char *class_mark(const char *word)
{
    return strpbrk(word, ", ") != NULL ? "\"" : "";
}

const char *class_text(const struct dataset *data,
                       const struct frame_column *words, uint32_t k,
                       char text[CLASS_TEXT])
{
    if (k < words->categories) {
        const struct quote word = quote_text(words->category[k].text);
        const char *const mark = class_mark(word.text);

        (void)snprintf(text, CLASS_TEXT, "%s%s%s", mark, word.text, mark);
    } else {
        (void)label_write(data->label[k], text);
    }
    return text;
}

void classes_text(const struct dataset *data, const struct frame_column *words,
                  uint32_t most, char *text, size_t size)
{
    char name[CLASS_TEXT];
    size_t used = 0;
    uint32_t k = 0;

    text[0] = '\0';
    for (; k < data->classes && k < most && used + CLASS_TEXT + 8 < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 k == 0 ? "" : ", ",
                                 class_text(data, words, k, name));
    if (k < data->classes)
        (void)snprintf(text + used, size - used, ", ...");
}
