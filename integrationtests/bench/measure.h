/* SPDX-License-Identifier: Apache-2.0
 *
 * Clock and figures of the benchmark programs. A figure is one line: name, tab, value.
 */
#ifndef CSI_BENCH_MEASURE_H
#define CSI_BENCH_MEASURE_H

#include <stddef.h>

/* Microseconds since some fixed moment. Never blocks. */
double bench_now_us(void);

/* Allocates room for `count` samples; ends the program when memory is short. */
double *bench_samples(size_t count);

/* Prints "<name>.p50_us" and "<name>.p99_us" of `count` > 0 samples in microseconds, which it sorts. */
void bench_print_percentiles(const char *name, double *samples_us, size_t count);

/* Prints one figure. */
void bench_print(const char *name, double value);

/* Prints why, with a Win32 error number when it is not 0, and ends the program with exit code 1. */
_Noreturn void bench_die(const char *what, unsigned long win32_error);

#endif
