#include "memory.h"

#define SMALLEST 16
#define CLASSES 32

typedef struct Hole {
    struct Hole *next;
} Hole;

static Hole *holes[CLASSES];

#define PAGE 65536
#define AT_LEAST 16 /* pages */
extern char __heap_base;
static size next, end;

static void *fresh(size bytes) {
    if (!next) {
        next = ((size)&__heap_base + SMALLEST - 1) / SMALLEST * SMALLEST;
        end = (size)__builtin_wasm_memory_size(0) * PAGE;
    }
    if (bytes > end - next) {
        size pages = (bytes - (end - next) + PAGE - 1) / PAGE;
        if (pages < AT_LEAST) pages = AT_LEAST;
        if (__builtin_wasm_memory_grow(0, pages) == (size)-1) __builtin_trap();
        end += pages * PAGE;
    }
    void *found = (void *)next;
    next += bytes;
    return found;
}

void *memset(void *to, int value, size n) {
    for (size k = 0; k < n; k++) ((char *)to)[k] = (char)value;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size n) {
    for (size k = 0; k < n; k++) ((char *)to)[k] = ((const char *)from)[k];
    return to;
}

static int class_of(size bytes) {
    int k = 0;
    if (bytes > (size)1 << 30) __builtin_trap();
    while (((size)SMALLEST << k) < bytes) k++;
    return k;
}

void *memory_new(size bytes) {
    int k = class_of(bytes);
    Hole *hole = holes[k];
    if (!hole) return fresh((size)SMALLEST << k);
    holes[k] = hole->next;
    return memset(hole, 0, (size)SMALLEST << k);
}

void memory_free(void *old, size bytes) {
    if (!old) return;
    Hole *hole = old;
    int k = class_of(bytes);
    hole->next = holes[k];
    holes[k] = hole;
}

void *memory_more(void *old, size had, size bytes) {
    if (had && class_of(had) == class_of(bytes)) return old; /* what is beyond is still 0 */
    void *found = memory_new(bytes);
    if (had) memcpy(found, old, had);
    memory_free(old, had);
    return found;
}

void *scratch_take(Scratch *scratch, size bytes) {
    bytes = (bytes + SMALLEST - 1) / SMALLEST * SMALLEST;
    if (scratch->used + bytes > scratch->room) __builtin_trap();
    void *found = scratch->start + scratch->used;
    scratch->used += bytes;
    return found;
}
