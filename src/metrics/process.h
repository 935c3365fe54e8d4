/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process costs, as the operating system counts it.
 */
#ifndef CSI_METRICS_PROCESS_H
#define CSI_METRICS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct csi_process_facts {
  int64_t start_unix_ms;   /* since 1970, UTC */
  uint64_t cpu_ns;         /* user and kernel, of all threads since the start */
  uint64_t resident_bytes; /* working set */
  uint64_t private_bytes;  /* committed for this process alone; on Linux its virtual size */
  uint32_t threads;
  uint32_t handles;     /* open ones; on Linux file descriptors */
  uint32_t handles_max; /* most it may have */
};

/* Asks the system, which takes microseconds, or on Windows a fraction of a millisecond (the threads are
 * counted in a list of all processes). False when the system does not tell; nothing is written then. Any
 * thread, no privileges.
 *
 * Rests on GetProcessTimes, GetProcessMemoryInfo, GetProcessHandleCount, CreateToolhelp32Snapshot; on
 * /proc/self. */
bool csi_process_facts(struct csi_process_facts *facts_out);

#endif
