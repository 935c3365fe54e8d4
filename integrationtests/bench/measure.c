/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

double bench_now_us(void) {
  static LARGE_INTEGER frequency;
  if (frequency.QuadPart == 0) {
    QueryPerformanceFrequency(&frequency);
  }
  LARGE_INTEGER now;
  QueryPerformanceCounter(&now);
  return (double)now.QuadPart * 1e6 / (double)frequency.QuadPart;
}

double *bench_samples(size_t count) {
  double *samples = calloc(count, sizeof *samples);
  if (samples == NULL) {
    bench_die("no memory for the samples", ERROR_OUTOFMEMORY);
  }
  return samples;
}

static int compare(const void *left, const void *right) {
  double a = *(const double *)left;
  double b = *(const double *)right;
  return (a > b) - (a < b);
}

void bench_print_percentiles(const char *name, double *samples_us, size_t count) {
  qsort(samples_us, count, sizeof *samples_us, compare);
  printf("%s.p50_us\t%.1f\n", name, samples_us[count / 2]);
  printf("%s.p99_us\t%.1f\n", name, samples_us[count * 99 / 100]);
  fflush(stdout);
}

void bench_print(const char *name, double value) {
  printf("%s\t%.1f\n", name, value);
  fflush(stdout);
}

_Noreturn void bench_die(const char *what, unsigned long win32_error) {
  if (win32_error != 0) {
    fprintf(stderr, "bench: %s (Win32 error %lu)\n", what, win32_error);
  } else {
    fprintf(stderr, "bench: %s\n", what);
  }
  exit(EXIT_FAILURE);
}
