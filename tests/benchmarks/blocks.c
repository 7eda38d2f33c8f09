/* Allocates known blocks under the interposer. Says nothing and ends with 0 when every count is exact. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int64_t counter(const char *name) {
    int64_t (*read)(void) = (int64_t (*)(void))dlsym(RTLD_DEFAULT, name);
    return read();
}

static void expect(const char *what, int64_t got, int64_t wanted) {
    if (got == wanted) return;
    dprintf(2, "%s: expected %lld, got %lld\n", what, (long long)wanted, (long long)got);
    _exit(1);
}

static int64_t start;

static int64_t held(void) { return counter("interposer_current") - start; }

static int64_t peak(void) { return counter("interposer_peak") - start; }

static void begin(void) {
    ((void (*)(void))dlsym(RTLD_DEFAULT, "interposer_reset"))();
    start = counter("interposer_current");
}

static void heap(void) {
    begin();
    void *blocks[8] = {malloc(1000), calloc(10, 300), aligned_alloc(64, 4096), memalign(256, 5000), valloc(6000), pvalloc(1)};
    expect("posix_memalign", posix_memalign(&blocks[6], 64, 7000), 0);
    blocks[7] = malloc(50u << 20);
    int64_t total = 0, largest = malloc_usable_size(blocks[7]);
    for (int i = 0; i < 8; i++) total += malloc_usable_size(blocks[i]);
    expect("heap held", held(), total);
    expect("heap allocations", counter("interposer_allocations"), 8);
    expect("heap large allocations", counter("interposer_large_allocations"), 7);
    expect("heap largest", counter("interposer_largest"), largest);
    for (int i = 0; i < 8; i++) free(blocks[i]);
    free(NULL);
    expect("heap after free", held(), 0);
    expect("heap peak", peak(), total);
    begin();
    expect("peak after reset", peak(), 0);
    expect("allocations after reset", counter("interposer_allocations"), 0);
    expect("largest after reset", counter("interposer_largest"), 0);
}

static void bad_alignment(void) {
    begin();
    void *block = &block;
    expect("posix_memalign of a wrong alignment", posix_memalign(&block, 3, 100) != 0, 1);
    expect("the place for its result", block == &block, 1);
    expect("nothing held", held(), 0);
}

static void reallocations(void) {
    begin();
    char *block = malloc(100);
    memset(block, 7, 100);
    void *fence = malloc(100); /* keeps the block from growing where it is */
    int64_t first = malloc_usable_size(block), guard = malloc_usable_size(fence);
    block = realloc(block, 100000);
    int64_t second = malloc_usable_size(block);
    expect("contents", block[99], 7);
    expect("realloc held", held(), second + guard);
    expect("a move holds both", peak(), first + second + guard);
    expect("a move is an allocation", counter("interposer_allocations"), 3);
    block = realloc(block, 50000);
    expect("shrunk", held(), (int64_t)malloc_usable_size(block) + guard);
    void *none = realloc(block, 0);
    expect("realloc to nothing gives nothing", none == NULL, 1);
    expect("realloc to nothing frees", held(), guard);
    none = reallocarray(NULL, 10, 10);
    expect("reallocarray", held(), guard + (int64_t)malloc_usable_size(none));
    free(none);
    free(fence);
    expect("reallocations end", held(), 0);
}

static char *map(size_t bytes, void *at, int flags) {
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

static void mappings(const char *file) {
    int64_t page = sysconf(_SC_PAGESIZE);
    begin();
    char *area = map(10 * page - 1, NULL, 0);
    expect("whole pages", held(), 10 * page);
    expect("a mapping is an allocation", counter("interposer_allocations"), 1);
    munmap(area + 4 * page, 2 * page);
    expect("a hole", held(), 8 * page);
    munmap(area + 3 * page, 4 * page);
    expect("a wider hole counts what was left", held(), 6 * page);
    map(2 * page, area + 2 * page, MAP_FIXED);
    expect("over one mapped and one free page", held(), 7 * page);
    expect("peak of mappings", peak(), 10 * page);
    munmap(area, 10 * page);
    expect("unmapped", held(), 0);

    area = map(4 * page, NULL, 0);
    area = mremap(area, 4 * page, 64 * page, MREMAP_MAYMOVE);
    expect("remapped wider", held(), 64 * page);
    area = mremap(area, 64 * page, 2 * page, 0);
    expect("remapped narrower", held(), 2 * page);
    munmap(area, 2 * page);
    expect("remapped end", held(), 0);

    FILE *stream = fopen(file, "r");
    begin();
    char *text = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fileno(stream), 0);
    expect("a file is not counted", held(), 0);
    munmap(text, page);
    expect("nor taken off", held(), 0);
    fclose(stream);
}

enum { THREADS = 4, ROUNDS = 20000, KEPT = 16 };

static void *churn(void *unused) {
    void *kept[KEPT] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        int at = i % KEPT;
        free(kept[at]);
        kept[at] = malloc(16 + (i * 37) % 3000);
        if (i % 100 == 0) munmap(map(65536, NULL, 0), 65536);
    }
    for (int i = 0; i < KEPT; i++) free(kept[i]);
    return unused;
}

static void threads(void) {
    pthread_t workers[THREADS];
    for (int round = 0; round < 2; round++) { /* the first round leaves what libc keeps for threads to come */
        begin();
        for (int i = 0; i < THREADS; i++) pthread_create(&workers[i], NULL, churn, NULL);
        for (int i = 0; i < THREADS; i++) pthread_join(workers[i], NULL);
    }
    expect("threads", held(), 0);
    expect("allocations of threads", counter("interposer_allocations") >= THREADS * (ROUNDS + ROUNDS / 100), 1);
}

int main(int count, char **arguments) {
    ((void (*)(int64_t))dlsym(RTLD_DEFAULT, "interposer_set_large_size"))(1024);
    heap();
    bad_alignment();
    reallocations();
    mappings(arguments[count - 1]);
    threads();
    return 0;
}
