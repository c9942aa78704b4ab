/*
 * page.c - a growing buffer of text whose failure is asked for once, at the
 * end.
 */
#include "cli/pages/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define LINE_BYTES 512u

void page_add(struct page *page, const void *data, size_t size)
{
    if (page->failed || size == 0)
        return;
    if (size > page->capacity - page->size) {
        char *grown = mem_grow(page->data, page->size, page->size + size, 1,
                               &page->capacity);

        page->failed = grown == NULL;
        if (page->failed)
            return;
        page->data = grown;
    }
    memcpy(page->data + page->size, data, size);
    page->size += size;
}

void page_put(struct page *page, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    int wrote;

    va_start(arguments, format);
    wrote = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (wrote < 0 || (size_t)wrote >= sizeof line)
        page->failed = true;
    else
        page_add(page, line, (size_t)wrote);
}

void page_close(struct page *page)
{
    mem_free(page->data);
    *page = (struct page){0};
}
