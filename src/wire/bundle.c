/*
 * bundle.c - framing of several small messages as one: a length in front of
 * each.  A length that leads out of the bundle ends it.
 */
#include "wire/bundle.h"

#include <string.h>

#include "base/bytes.h"

#define SIZE_BYTES 4u

bool bundle_add(struct bundle *bundle, const uint8_t *data, size_t size)
{
    struct writer out = writer_on(bundle->bytes, sizeof bundle->bytes);

    out.size = bundle->size;
    if (size > BUNDLE_ITEM_MAX ||
        sizeof bundle->bytes - out.size < 1 + SIZE_BYTES + size)
        return false;
    if (out.size == 0)
        put_u8(&out, BUNDLE_BYTE);
    put_u32(&out, (uint32_t)size);
    put_bytes(&out, data, size);
    bundle->size = out.size;
    return true;
}

bool bundle_is(const uint8_t *data, size_t size)
{
    return size > 0 && data[0] == BUNDLE_BYTE;
}

bool bundle_next(const uint8_t *data, size_t size, size_t *at,
                 const uint8_t **message, size_t *message_size)
{
    struct reader in = reader_on(data, size);
    uint32_t declared;

    in.at = *at > 0 ? *at : 1;
    if (in.at == size && *at > 0)
        return false;
    declared = get_u32(&in);
    *message = get_view(&in, declared);
    *message_size = declared;
    *at = in.ok ? in.at : 0;
    return in.ok;
}
