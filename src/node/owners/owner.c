/*
 * owner.c - the owners of private data who are here, what each has offered, and
 * what all offers come to: homes in the order of their digests, the columns and
 * the labels of all together.
 */
#include "node/owners/owner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

static struct image image_of(const struct roll_offer *offer)
{
    return (struct image){offer->height, offer->width, offer->channels};
}

bool owner_keep(struct owner *owner, const struct roll_offer *offer)
{
    const size_t size = offer->label_count * sizeof *owner->labels;

    mem_free(owner->labels);
    owner->labels = mem_new(offer->label_count, sizeof *owner->labels);
    if (owner->labels == NULL)
        return false;
    if (size > 0)
        memcpy(owner->labels, offer->labels, size);
    owner->label_count = offer->label_count;
    memcpy(owner->name, offer->name, NAME_SIZE);
    owner->part = offer->part;
    owner->columns = offer->columns;
    owner->rows = offer->rows;
    owner->cols = offer->cols;
    owner->image = image_of(offer);
    owner->sizes = (struct image_sizes){
        .least = offer->least, .most = offer->most, .whole = offer->whole};
    owner->offered = true;
    return true;
}

void owner_drop(struct owner **owners, struct owner *owner)
{
    while (*owners != owner)
        owners = &(*owners)->next;
    *owners = owner->next;
    mem_free(owner->labels);
    mem_free(owner);
}

static bool is_first(const struct owner *owners, const struct owner *owner)
{
    for (const struct owner *at = owners; at != owner; at = at->next) {
        if (at->offered && digest_equal(&at->part, &owner->part))
            return false;
    }
    return true;
}

uint32_t owners_parts(const struct owner *owners)
{
    uint32_t count = 0;

    for (const struct owner *at = owners; at != NULL; at = at->next)
        count += at->offered && is_first(owners, at);
    return count;
}

/* One of those who are here; NULL: there is no other. */
static const struct owner *another(const struct owner *owners,
                                   const struct owner *but)
{
    const struct owner *at = owners;

    while (at != NULL && (at == but || !at->offered))
        at = at->next;
    return at;
}

bool owners_named(const struct owner *owners, const struct owner *but,
                  const struct roll_offer *offer)
{
    for (const struct owner *at = owners; at != NULL; at = at->next)
        if (at != but && at->offered && strcmp(at->name, offer->name) == 0 &&
            !digest_equal(&at->part, &offer->part))
            return true;
    return false;
}

bool owners_agree(const struct owner *owners, const struct owner *but,
                  const struct roll_offer *offer)
{
    const struct owner *const other = another(owners, but);

    return other == NULL || digest_equal(&other->columns, &offer->columns);
}

bool owners_alike(const struct owner *owners, const struct owner *but,
                  const struct roll_offer *offer)
{
    const struct owner *const other = another(owners, but);
    const struct image image = image_of(offer);

    return other == NULL || (other->image.height == image.height &&
                             other->image.width == image.width &&
                             other->image.channels == image.channels);
}

static int by_digest(const void *a, const void *b)
{
    const struct home *left = a;
    const struct home *right = b;

    return memcmp(left->part.bytes, right->part.bytes, DIGEST_BYTES);
}

static int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return (left > right) - (left < right);
}

/* All labels there are; none if some owner has too many, or all together. */
static enum err unite_labels(const struct owner *owners, struct parts *parts)
{
    uint64_t total = 0;
    uint64_t count = 0;
    double *all;

    for (const struct owner *at = owners; at != NULL; at = at->next) {
        if (at->offered && at->label_count == 0)
            return ERR_OK;
        total += at->label_count;
    }
    all = mem_new(total, sizeof *all);
    if (all == NULL)
        return ERR_NOMEM;
    total = 0;
    for (const struct owner *at = owners; at != NULL; at = at->next) {
        for (uint32_t i = 0; i < at->label_count; i++)
            all[total++] = at->labels[i];
    }
    qsort(all, total, sizeof *all, by_value);
    for (uint64_t i = 0; i < total; i++) {
        if (i == 0 || all[i] != all[count - 1])
            all[count++] = all[i];
    }
    parts->labels = all;
    parts->label_count = count <= ROLL_LABELS_MAX ? (uint32_t)count : 0;
    return ERR_OK;
}

enum err owners_unite(const struct owner *owners, uint32_t count,
                      struct parts *parts)
{
    uint64_t rows = 0;

    parts->sizes.whole = true;
    parts->homes = mem_new(count, sizeof *parts->homes);
    if (parts->homes == NULL)
        return ERR_NOMEM;
    for (const struct owner *at = owners; at != NULL; at = at->next) {
        if (!at->offered || !is_first(owners, at))
            continue;
        CHECK(parts->count < count);
        parts->homes[parts->count++] =
            (struct home){.part = at->part, .rows = at->rows};
        rows += at->rows;
        parts->cols = at->cols > parts->cols ? at->cols : parts->cols;
        parts->image = at->image;
        parts->sizes.least = fmin(parts->sizes.least, at->sizes.least);
        parts->sizes.most = fmax(parts->sizes.most, at->sizes.most);
        parts->sizes.whole &= at->sizes.whole;
    }
    qsort(parts->homes, parts->count, sizeof *parts->homes, by_digest);
    if (rows > DATA_ROWS_MAX)
        return ERR_TOOBIG;
    parts->rows = (uint32_t)rows;
    return unite_labels(owners, parts);
}
