/*
 * utf8.h - characters of UTF-8, one at a time.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_SIZE 4u /* Bytes of a character at most. */

/* Bytes of the character that `text` begins with, and its code.  0: none does,
 * for no half of UTF-16 is one, and nothing written longer than it must be. */
size_t utf8_get(const char *text, size_t size, uint32_t *code);

/* The same character as bytes; returns how many. */
size_t utf8_put(uint32_t code, char text[UTF8_SIZE]);

#endif /* BASE_UTF8_H */
