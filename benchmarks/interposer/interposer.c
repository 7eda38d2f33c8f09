/* Counts the bytes a process holds: preload it (LD_PRELOAD) and read the counters through `interposer_*`.
 *
 * Counted: blocks of the malloc family (C++ `new` comes through malloc) at malloc_usable_size, the bytes the heap really
 * gave away; and anonymous mappings, in whole pages, whether readable or only reserved, as long as they stay mapped.
 * Not counted: file mappings, static data, thread stacks and the heap's own mappings (libc makes those two by inner calls).
 *
 * A block is added after the heap gave it and taken off before the heap has it back. A realloc that moves a block holds
 * both copies for a moment and is counted so. A realloc that moves or grows counts as an allocation of the new size.
 *
 * The heap is reached by glibc's own names for it (__libc_malloc, ...) and the kernel by syscall, so nothing is looked up
 * at start: the first malloc of the process, before any constructor has run, already works. Counters are atomics; only
 * the table of anonymous mappings has a lock, under which nothing allocates.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(void *) == 8, "mmap's offset is passed in bytes: 64-bit systems only");

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* ---- counters ---- */

static _Atomic int64_t live, peak, allocations, large_allocations, largest, lost_mappings;
static _Atomic int64_t large_size = INT64_MAX;

static void raise_to(_Atomic int64_t *mark, int64_t value) {
    int64_t seen = atomic_load(mark);
    while (seen < value && !atomic_compare_exchange_weak(mark, &seen, value)) {
    }
}

static void hold(int64_t bytes) { raise_to(&peak, atomic_fetch_add(&live, bytes) + bytes); }

static void release(int64_t bytes) { atomic_fetch_sub(&live, bytes); }

static void tally(int64_t bytes) {
    atomic_fetch_add(&allocations, 1);
    if (bytes >= atomic_load(&large_size)) atomic_fetch_add(&large_allocations, 1);
    raise_to(&largest, bytes);
}

EXPORT int64_t interposer_current(void) { return atomic_load(&live); }
EXPORT int64_t interposer_peak(void) { return atomic_load(&peak); }
EXPORT int64_t interposer_allocations(void) { return atomic_load(&allocations); }
EXPORT int64_t interposer_large_allocations(void) { return atomic_load(&large_allocations); }
EXPORT int64_t interposer_largest(void) { return atomic_load(&largest); }
/* Mappings the table had no room for: the counts are not to be trusted once this is not 0. */
EXPORT int64_t interposer_lost_mappings(void) { return atomic_load(&lost_mappings); }
EXPORT void interposer_set_large_size(int64_t bytes) { atomic_store(&large_size, bytes); }

EXPORT void interposer_reset(void) {
    atomic_store(&allocations, 0);
    atomic_store(&large_allocations, 0);
    atomic_store(&largest, 0);
    atomic_store(&peak, atomic_load(&live));
}

/* ---- the malloc family ---- */

static void *counted(void *block) {
    if (!block) return NULL;
    int64_t bytes = (int64_t)malloc_usable_size(block);
    hold(bytes);
    tally(bytes);
    return block;
}

EXPORT void *malloc(size_t size) { return counted(__libc_malloc(size)); }

EXPORT void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

EXPORT void free(void *block) {
    if (!block) return;
    release((int64_t)malloc_usable_size(block));
    __libc_free(block);
}

EXPORT void *realloc(void *block, size_t size) {
    uintptr_t old = (uintptr_t)block;
    int64_t before = (int64_t)malloc_usable_size(block);
    void *result = __libc_realloc(block, size);
    if (!result) {
        if (size == 0) release(before);
        return NULL;
    }
    int64_t after = (int64_t)malloc_usable_size(result);
    if ((uintptr_t)result == old) {
        hold(after - before);
        if (after > before) tally(after);
        return result;
    }
    hold(after);
    release(before);
    tally(after);
    return result;
}

EXPORT void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

EXPORT void *aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

EXPORT int posix_memalign(void **result, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    int saved = errno;
    void *block = counted(__libc_memalign(alignment, size));
    errno = saved;
    if (!block) return ENOMEM;
    *result = block;
    return 0;
}

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

EXPORT void *valloc(size_t size) { return counted(__libc_memalign(page_size(), size)); }

EXPORT void *pvalloc(size_t size) { return counted(__libc_memalign(page_size(), whole_pages(size))); }

/* ---- anonymous mappings: the address ranges they cover, sorted, neighbours joined ---- */

typedef struct {
    uintptr_t start, end;
} range;

enum { CAPACITY = 1 << 16 };

static range ranges[CAPACITY];
static size_t range_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void) { pthread_mutex_lock(&lock); }

static void drop_lock(void) { pthread_mutex_unlock(&lock); }

/* A child forked while another thread maps memory must not inherit a lock nobody will open. */
__attribute__((constructor)) static void keep_lock_across_fork(void) { pthread_atfork(take_lock, drop_lock, drop_lock); }

static size_t first_ending_after(uintptr_t address) {
    size_t low = 0, high = range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void insert_range(size_t at, range value) {
    if (range_count == CAPACITY) {
        atomic_fetch_add(&lost_mappings, 1);
        return;
    }
    memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(range));
    ranges[at] = value;
    range_count++;
}

static void erase_range(size_t at) {
    range_count--;
    memmove(&ranges[at], &ranges[at + 1], (range_count - at) * sizeof(range));
}

/* Takes [start, end) off the table; returns how many bytes of it were there. */
static int64_t forget(uintptr_t start, uintptr_t end) {
    int64_t bytes = 0;
    size_t at = first_ending_after(start);
    while (at < range_count && ranges[at].start < end) {
        range known = ranges[at];
        uintptr_t from = known.start > start ? known.start : start;
        uintptr_t to = known.end < end ? known.end : end;
        bytes += (int64_t)(to - from);
        erase_range(at);
        if (known.start < from) insert_range(at++, (range){known.start, from});
        if (to < known.end) insert_range(at++, (range){to, known.end});
    }
    return bytes;
}

/* Puts [start, end), none of which is on the table, on it. */
static void remember(uintptr_t start, uintptr_t end) {
    size_t at = first_ending_after(start);
    if (at < range_count && ranges[at].start == end) {
        end = ranges[at].end;
        erase_range(at);
    }
    if (at > 0 && ranges[at - 1].end == start)
        ranges[at - 1].end = end;
    else
        insert_range(at, (range){start, end});
}

EXPORT void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset) {
    size_t bytes = whole_pages(length);
    take_lock();
    void *result = (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
    if (result == MAP_FAILED) {
        drop_lock();
        return result;
    }
    uintptr_t start = (uintptr_t)result;
    release(forget(start, start + bytes));
    if (flags & MAP_ANONYMOUS) {
        remember(start, start + bytes);
        hold((int64_t)bytes);
        tally((int64_t)bytes);
    }
    drop_lock();
    return result;
}

EXPORT void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

EXPORT int munmap(void *address, size_t length) {
    uintptr_t start = (uintptr_t)address;
    take_lock();
    int failed = (int)syscall(SYS_munmap, address, length);
    if (!failed) release(forget(start, start + whole_pages(length)));
    drop_lock();
    return failed;
}

EXPORT void *mremap(void *old_address, size_t old_length, size_t new_length, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(rest, void *) : NULL;
    va_end(rest);
    uintptr_t old = (uintptr_t)old_address;
    take_lock();
    void *result = (void *)syscall(SYS_mremap, old_address, old_length, new_length, flags, wanted);
    if (result == MAP_FAILED) {
        drop_lock();
        return result;
    }
    int64_t before = forget(old, old + whole_pages(old_length));
    uintptr_t start = (uintptr_t)result;
    uintptr_t end = start + whole_pages(new_length);
    release(forget(start, end));
    if (before) {
        int64_t after = (int64_t)(end - start);
        remember(start, end);
        hold(after - before);
        if (after > before) tally(after);
    }
    drop_lock();
    return result;
}
