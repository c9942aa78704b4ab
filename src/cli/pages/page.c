/*
 * page.c - a growing buffer of text whose failure is asked for once, at the
 * end.
 */
#include "cli/pages/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/mem.h"

#define LINE_BYTES 512u
#define NPY_ALIGN  64u

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
    CHECK(page->data != NULL); /* There is room. */
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

/* Format 1.0: magic, version, length, a Python dict padded to 64 bytes. */
void page_npy_head(struct page *page, const char *type, const char *shape,
                   bool by_columns)
{
    struct page head = {0};
    uint8_t length[2];
    struct writer out = writer_on(length, sizeof length);

    page_put(&head, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
             type, by_columns ? "True" : "False", shape);
    while ((10 + 1 + head.size) % NPY_ALIGN != 0 && !head.failed)
        page_put(&head, " ");
    page_put(&head, "\n");
    put_u16(&out, (uint16_t)head.size);
    page_add(page, "\x93NUMPY\x01", 8); /* The NUL is the minor version. */
    page_add(page, length, sizeof length);
    page_add(page, head.data, head.size);
    page->failed = page->failed || head.failed;
    page_close(&head);
}

void page_close(struct page *page)
{
    mem_free(page->data);
    *page = (struct page){0};
}
