/*
 * plain.h - text of others, fit to be shown: it moves no cursor and changes no
 * colour.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

#include <stddef.h>

/* What is no printable UTF-8, except ends of lines, becomes '?', byte by byte.
 */
void plain_text(char *text);

/* Control characters become \x1b and the like, ends of lines, too, as far as
 * `size` bytes have room. */
void plain_controls(char *text, size_t size);

/* As many whole characters of `text` as `room` holds with a NUL, ends of lines
 * as '?', too.  Returns their bytes. */
size_t plain_copy(char *out, size_t room, const char *text, size_t size);

#endif /* BASE_PLAIN_H */
