#define _GNU_SOURCE /* F_OFD_SETLK, fallocate, syscall */
/*
 * segment.c - a file in memory with a head of words that are changed
 * atomically:
 *
 *     head     kind, size, facts; the word that says which copy is the value
 *     copies   two of each seat
 *     marks, texts of each seat
 *     bytes    from the next page on
 */
#include "os/run/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/file/file.h"
#include "os/file/memory_file.h"
#include "os/run/pause.h"

#define LINE        64u
#define PAGE        4096u
#define COPIES      (2 * SEGMENT_SEATS)
#define VERSION_ONE (UINT64_C(1) << 8) /* Below it: which copy. */
#define YIELDS      16u

struct copy {
    _Alignas(LINE) _Atomic uint64_t words[SEGMENT_VALUE_WORDS];
};

struct seat_marks {
    _Alignas(LINE) _Atomic uint64_t words[SEGMENT_MARKS];
};

struct head {
    struct segment_shape shape;
    _Alignas(LINE) _Atomic uint64_t current; /* Version, and which copy. */
    _Alignas(LINE) _Atomic uint32_t bell;
    _Atomic uint32_t sleepers;
    struct copy copies[COPIES];
    struct seat_marks marks[SEGMENT_SEATS];
    char texts[SEGMENT_SEATS][SEGMENT_TEXT_SIZE];
};

_Static_assert(COPIES <= 256, "a copy's number lies below the version");

struct segment {
    int fd;
    struct head *head;
    uint64_t mapped;
    struct segment_shape shape; /* Checked once, and never read again. */
    char name[SEGMENT_NAME_SIZE];
};

static uint64_t head_bytes(void)
{
    return (sizeof(struct head) + PAGE - 1) / PAGE * PAGE;
}

/* Memory that is not there is an error here, and not a signal later. */
static enum err reserve(int fd, uint64_t at, uint64_t size)
{
    int failed;

    do
        failed = fallocate(fd, 0, (off_t)at, (off_t)size);
    while (failed != 0 && errno == EINTR);
    return failed == 0 ? ERR_OK : ERR_NOMEM;
}

static enum err map(struct segment *made, uint64_t bytes, struct why *why)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, made->fd, 0);

    if (memory == MAP_FAILED)
        return why_set(why, ERR_NOMEM,
                       "not enough address space for %llu bytes to share; a "
                       "smaller bytes_max or members_max needs less",
                       (unsigned long long)bytes);
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    made->head = memory;
    made->mapped = bytes;
    return ERR_OK;
}

enum err segment_new(const struct segment_shape *shape,
                     const uint64_t value[SEGMENT_VALUE_WORDS],
                     struct segment **segment, struct why *why)
{
    struct segment *made = mem_new(1, sizeof *made);
    const uint64_t bytes = head_bytes() + shape->bytes;
    enum err err = ERR_OK;

    if (made == NULL)
        return ERR_NOMEM;
    made->fd = memory_file_new();
    if (made->fd < 0 || ftruncate(made->fd, (off_t)bytes) != 0)
        err = why_set(why, ERR_IO, "there is no memory to share to be had: %s",
                      strerror(errno));
    if (err == ERR_OK)
        err = memory_file_name(made->fd, made->name, sizeof made->name, why);
    if (err == ERR_OK)
        err = reserve(made->fd, 0, head_bytes());
    if (err == ERR_OK)
        err = map(made, bytes, why);
    if (err != ERR_OK) {
        segment_free(made);
        return err;
    }
    made->shape = made->head->shape = *shape;
    for (uint32_t i = 0; i < SEGMENT_VALUE_WORDS; i++)
        atomic_store(&made->head->copies[0].words[i], value[i]);
    atomic_store(&made->head->current, VERSION_ONE);
    *segment = made;
    return ERR_OK;
}

/* The head of a file of ours, as large as it says. */
static enum err look_at(struct segment *made, const char *name, uint64_t kind,
                        struct why *why)
{
    struct stat info;

    if (fstat(made->fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_nlink != 0 || info.st_uid != geteuid() ||
        (info.st_mode & 077) != 0)
        return why_set(why, ERR_DENIED,
                       "%.200s: not a file in memory of yours alone", name);
    if (pread(made->fd, &made->shape, sizeof made->shape, 0) !=
            (ssize_t)sizeof made->shape ||
        made->shape.kind != kind ||
        (uint64_t)info.st_size != head_bytes() + made->shape.bytes)
        return why_set(why, ERR_FORMAT,
                       "%.200s: no group of this release of muster is there",
                       name);
    return ERR_OK;
}

enum err segment_open(const char *name, uint64_t kind, struct segment **segment,
                      struct why *why)
{
    struct segment *made = mem_new(1, sizeof *made);
    enum err err;

    if (made == NULL)
        return ERR_NOMEM;
    made->fd = open(name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (made->fd < 0) {
        err = file_read_failed(why, name, errno);
        mem_free(made);
        return err;
    }
    err = look_at(made, name, kind, why);
    if (err == ERR_OK)
        err = memory_file_name(made->fd, made->name, sizeof made->name, why);
    if (err == ERR_OK)
        err = map(made, head_bytes() + made->shape.bytes, why);
    if (err == ERR_OK)
        *segment = made;
    else
        segment_free(made);
    return err;
}

void segment_free(struct segment *segment)
{
    if (segment == NULL)
        return;
    if (segment->head != NULL)
        (void)munmap(segment->head, segment->mapped);
    memory_file_free(segment->fd);
    mem_free(segment);
}

const char *segment_name(const struct segment *segment)
{
    return segment->name;
}

const struct segment_shape *segment_shape(const struct segment *segment)
{
    return &segment->shape;
}

uint8_t *segment_bytes(const struct segment *segment, uint64_t at)
{
    CHECK(at <= segment->shape.bytes);
    return (uint8_t *)segment->head + head_bytes() + at;
}

enum err segment_reserve(struct segment *segment, uint64_t at, uint64_t size)
{
    CHECK(at <= segment->shape.bytes && size <= segment->shape.bytes - at);
    return reserve(segment->fd, head_bytes() + at, size);
}

/* --- seats --------------------------------------------------------------- */

static struct flock byte_of(uint32_t seat, short type)
{
    CHECK(seat < SEGMENT_SEATS);
    return (struct flock){.l_type = type,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)seat,
                          .l_len = 1};
}

bool segment_sit(struct segment *segment, uint32_t seat)
{
    struct flock lock = byte_of(seat, F_WRLCK);

    return fcntl(segment->fd, F_OFD_SETLK, &lock) == 0;
}

void segment_rise(struct segment *segment, uint32_t seat)
{
    struct flock lock = byte_of(seat, F_UNLCK);

    (void)fcntl(segment->fd, F_OFD_SETLK, &lock);
}

bool segment_occupied(const struct segment *segment, uint32_t seat)
{
    struct flock lock = byte_of(seat, F_WRLCK);

    /* A kernel that does not tell has not said that it is free. */
    return fcntl(segment->fd, F_OFD_GETLK, &lock) != 0 ||
           lock.l_type != F_UNLCK;
}

/* --- the value ----------------------------------------------------------- */

uint64_t segment_read(const struct segment *segment,
                      uint64_t value[SEGMENT_VALUE_WORDS])
{
    const struct head *head = segment->head;
    uint64_t current =
        atomic_load_explicit(&head->current, memory_order_acquire);

    for (;;) {
        const struct copy *copy = &head->copies[current % VERSION_ONE % COPIES];
        uint64_t again;

        for (uint32_t i = 0; i < SEGMENT_VALUE_WORDS; i++)
            value[i] =
                atomic_load_explicit(&copy->words[i], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        again = atomic_load_explicit(&head->current, memory_order_acquire);
        if (again == current)
            return current;
        current = again;
    }
}

bool segment_swap(struct segment *segment, uint32_t seat, uint64_t read,
                  const uint64_t value[SEGMENT_VALUE_WORDS])
{
    struct head *head = segment->head;
    const uint32_t first = 2 * seat;
    const uint32_t mine = read % VERSION_ONE == first ? first + 1 : first;
    uint64_t expected = read;

    /* Who still reads what this copy was before finds another `current`. */
    atomic_thread_fence(memory_order_release);
    for (uint32_t i = 0; i < SEGMENT_VALUE_WORDS; i++)
        atomic_store_explicit(&head->copies[mine].words[i], value[i],
                              memory_order_relaxed);
    return atomic_compare_exchange_strong(
        &head->current, &expected,
        (read / VERSION_ONE + 1) * VERSION_ONE + mine);
}

uint64_t segment_mark(const struct segment *segment, uint32_t seat,
                      uint32_t mark)
{
    return atomic_load_explicit(&segment->head->marks[seat].words[mark],
                                memory_order_acquire);
}

void segment_set_mark(struct segment *segment, uint32_t seat, uint32_t mark,
                      uint64_t value)
{
    atomic_store_explicit(&segment->head->marks[seat].words[mark], value,
                          memory_order_release);
}

char *segment_text(const struct segment *segment, uint32_t seat)
{
    return segment->head->texts[seat];
}

/* --- waiting ------------------------------------------------------------- */

uint32_t segment_bell(const struct segment *segment)
{
    return atomic_load(&segment->head->bell);
}

/* Who lies down counts itself, then looks at the bell; who rings writes the
 * bell, then looks at the count: one of the two sees the other. */
void segment_ring(struct segment *segment)
{
    struct head *head = segment->head;

    (void)atomic_fetch_add(&head->bell, 1);
    if (atomic_load(&head->sleepers) > 0)
        (void)syscall(SYS_futex, &head->bell, FUTEX_WAKE, INT_MAX, NULL, NULL,
                      0);
}

static bool lie_down(struct head *head, uint32_t bell, time_us until)
{
    const time_us left = until - clock_now_us();
    const struct timespec limit = {.tv_sec = left / SECOND_US,
                                   .tv_nsec = left % SECOND_US * 1000};

    if (left <= 0)
        return false;
    (void)atomic_fetch_add(&head->sleepers, 1);
    if (atomic_load(&head->bell) == bell)
        (void)syscall(SYS_futex, &head->bell, FUTEX_WAIT, bell, &limit, NULL,
                      0);
    (void)atomic_fetch_sub(&head->sleepers, 1);
    return true;
}

bool segment_wait(struct segment *segment, uint32_t bell, uint32_t awake,
                  time_us until)
{
    struct head *head = segment->head;

    for (uint32_t i = 0; i < awake; i++) {
        if (atomic_load_explicit(&head->bell, memory_order_acquire) != bell)
            return true;
        processor_pause();
    }
    for (uint32_t i = 0; i < YIELDS; i++) {
        if (atomic_load_explicit(&head->bell, memory_order_acquire) != bell)
            return true;
        (void)sched_yield();
    }
    while (atomic_load(&head->bell) == bell) {
        if (!lie_down(head, bell, until))
            return false;
    }
    return true;
}
