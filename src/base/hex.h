/*
 * hex.h - bytes as hexadecimal digits, two each.
 */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 2 * count lower-case digits and a NUL; returns `text`. */
char *hex_put(const uint8_t *bytes, size_t count, char *text);
/* The 2 * count digits that `text` begins with, of either case; what follows
 * them is not looked at.  False if there are fewer. */
bool hex_get(const char *text, size_t count, uint8_t *bytes);

#endif /* BASE_HEX_H */
