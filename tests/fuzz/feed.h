/*
 * feed.h - an input as a stream of choices: whatever is read past its end is 0.
 */
#ifndef FUZZ_FEED_H
#define FUZZ_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct feed {
    const uint8_t *data;
    size_t size, at;
};

static inline bool feed_more(const struct feed *feed)
{
    return feed->at < feed->size;
}

static inline uint32_t feed_u8(struct feed *feed)
{
    return feed_more(feed) ? feed->data[feed->at++] : 0;
}

static inline uint32_t feed_below(struct feed *feed, uint32_t limit)
{
    return feed_u8(feed) % limit;
}

static inline uint64_t feed_u64(struct feed *feed)
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | feed_u8(feed);
    return value;
}

/* The next bytes themselves, as many as a length byte says and as are left. */
static inline const uint8_t *feed_view(struct feed *feed, size_t *size)
{
    const uint8_t *view;

    *size = feed_u8(feed);
    view = feed->data + feed->at;
    if (*size > feed->size - feed->at)
        *size = feed->size - feed->at;
    feed->at += *size;
    return view;
}

#endif /* FUZZ_FEED_H */
