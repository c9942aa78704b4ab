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
/* What stands before the numbers of an npy file: "<f8" and "3, 4", column after
 * column or row after row. */
void page_npy_head(struct page *page, const char *type, const char *shape,
                   bool by_columns);
void page_close(struct page *page);

#endif /* CLI_PAGE_H */
