/* SPDX-License-Identifier: Apache-2.0
 *
 * A capped region allocator: one arena per request, freed in one call.
 * Not thread-safe; whoever holds the request holds the arena. Everything handed out is zeroed, lives
 * until csi_arena_free(), and is wiped then when the arena was marked secret.
 */
#ifndef CSI_BASE_ARENA_H
#define CSI_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__MINGW32__)
#define CSI_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#else
#define CSI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#endif
#define CSI_MUST_CHECK __attribute__((warn_unused_result))

struct csi_arena;

/* Makes an arena that hands out at most cap_bytes in all. NULL when memory is short. */
struct csi_arena *csi_arena_new(size_t cap_bytes) CSI_MUST_CHECK;

/* Frees the arena and everything in it. NULL is accepted. */
void csi_arena_free(struct csi_arena *arena);

/* Every block is overwritten before it is given back: for requests that carry credentials. */
void csi_arena_mark_secret(struct csi_arena *arena);

/* Zeroed, suitably aligned memory; NULL when the cap or the machine's memory is reached. */
void *csi_arena_alloc(struct csi_arena *arena, size_t size_bytes) CSI_MUST_CHECK;

/* As csi_arena_alloc() for count items; also NULL when the product overflows. */
void *csi_arena_alloc_array(struct csi_arena *arena, size_t count, size_t item_bytes) CSI_MUST_CHECK;

/* Copies length_bytes and appends a NUL. */
char *csi_arena_strndup(struct csi_arena *arena, const char *text, size_t length_bytes) CSI_MUST_CHECK;
char *csi_arena_strdup(struct csi_arena *arena, const char *text) CSI_MUST_CHECK;

/* Formats into the arena. NULL when memory is short. */
char *csi_arena_printf(struct csi_arena *arena, const char *format, ...) CSI_PRINTF(2, 3) CSI_MUST_CHECK;

char *csi_arena_vprintf(struct csi_arena *arena, const char *format, va_list args)
    CSI_PRINTF(2, 0) CSI_MUST_CHECK;

/* Bytes handed out so far. */
size_t csi_arena_used_bytes(const struct csi_arena *arena);

/* For tests: the countdown-th allocation from now on, in any arena of this thread, fails (1 = the
 * next one); 0 switches the failing off. Returns how many allocations were left to count. */
unsigned csi_arena_fail_after(unsigned countdown);

#endif
