/*
 * plain.h - text of others, fit to be shown: it moves no cursor and changes no
 * colour.
 */
#ifndef BASE_PLAIN_H
#define BASE_PLAIN_H

/* What is no printable UTF-8, except ends of lines, becomes '?'. */
void plain_text(char *text);

#endif /* BASE_PLAIN_H */
