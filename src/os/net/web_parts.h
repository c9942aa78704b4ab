/*
 * web_parts.h - what web.c and http.c ask of every transfer (os/ only).
 */
#ifndef OS_WEB_PARTS_H
#define OS_WEB_PARTS_H

#include <curl/curl.h>
#include <stdbool.h>

/* A handle for transfers, from any thread; NULL: out of memory. */
CURL *web_handle(void);
/* Where to, and by which roads: who asks for a seal (https) is not led to where
 * there is none. */
bool web_set_address(CURL *curl, const char *url);
/* Did the server try to? */
bool web_was_unsealed(CURLcode code, const char *url);
#define SHOWN_SIZE 320u
/* The address for a message: "***" for the password in it, if there is one. */
void web_hide_password(const char *url, char *shown, size_t capacity);

#endif /* OS_WEB_PARTS_H */
