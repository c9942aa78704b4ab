/*
 * page.h - text that grows, for files written in one go.
 */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed is an empty page. */
struct page {
    char *data; /* Not NUL-terminated. */
    size_t size, capacity;
    bool failed; /* Out of memory: all further text is dropped. */
};

__attribute__((format(printf, 2, 3))) void page_put(struct page *page,
                                                    const char *format, ...);
void page_add(struct page *page, const void *data, size_t size);
void page_close(struct page *page);

#endif /* CLI_PAGE_H */
