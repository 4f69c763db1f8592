/* Memory by powers of two: what is given back is had again. All of it begins as 0. */
#pragma once

typedef __SIZE_TYPE__ size;

void *memory_new(size bytes);
void *memory_more(void *old, size had, size bytes);
void memory_free(void *old, size bytes);

#define NEW(type, n) ((type *)memory_new(sizeof(type) * (size)(n)))
#define MORE(array, had, n) \
    ((array) = (__typeof__(array))memory_more((array), sizeof(*(array)) * (size)(had), sizeof(*(array)) * (size)(n)))
#define FREE(array, n) memory_free((array), sizeof(*(array)) * (size)(n))

/* Arrays that are filled in for as long as a call takes: `mark` what there is, take, `release`. */
typedef struct {
    char *start;
    size used, room;
} Scratch;

void *scratch_take(Scratch *scratch, size bytes); /* not cleared; `room` must do */

#define TAKE(kernel, type, n) ((type *)scratch_take(&(kernel)->scratch, sizeof(type) * (size)(n)))
