/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
  FILE_BYTES = 4096, /* enough for what is read of /proc */
  MS_PER_S = 1000,
};

#define NS_PER_S UINT64_C(1000000000)

/* Where the fields begin that follow the name in /proc/self/stat; they count from 3. */
enum {
  FIELD_FIRST = 3,
  FIELD_THREADS = 20,
  FIELD_START_TICKS = 22,
};

/* The beginning of a file, with a NUL behind it; cut at a size that what is looked for comes before. */
static bool read_file(const char *path, char text[FILE_BYTES]) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return false;
  size_t length = fread(text, 1, FILE_BYTES - 1, file);
  fclose(file);
  text[length] = '\0';
  return length > 0;
}

/* Field `number` of a text whose first field is FIELD_FIRST. */
static unsigned long long field(const char *text, int number) {
  for (int at = FIELD_FIRST; at < number; at++) {
    text += strcspn(text, " ");
    text += strspn(text, " ");
  }
  return strtoull(text, NULL, 10);
}

/* Seconds since 1970 when the machine was started; 0 when unknown. */
static int64_t boot_unix_s(void) {
  FILE *file = fopen("/proc/stat", "re");
  if (file == NULL) return 0;
  char *line = NULL;
  size_t line_bytes = 0;
  long long boot_s = 0;
  while (boot_s == 0 && getline(&line, &line_bytes, file) > 0)
    if (strncmp(line, "btime ", 6) == 0) boot_s = strtoll(line + 6, NULL, 10);
  free(line);
  fclose(file);
  return boot_s;
}

static bool read_stat(struct csi_process_facts *facts) {
  char text[FILE_BYTES];
  if (!read_file("/proc/self/stat", text)) return false;
  const char *behind_name = strrchr(text, ')');
  if (behind_name == NULL || behind_name[1] != ' ') return false;
  facts->threads = (uint32_t)field(behind_name + 2, FIELD_THREADS);
  unsigned long long start_ticks = field(behind_name + 2, FIELD_START_TICKS);
  facts->start_unix_ms =
      boot_unix_s() * MS_PER_S + (int64_t)(start_ticks * MS_PER_S / (unsigned long long)sysconf(_SC_CLK_TCK));
  return true;
}

static bool read_memory(struct csi_process_facts *facts) {
  char text[FILE_BYTES];
  unsigned long long size_pages, resident_pages;
  if (!read_file("/proc/self/statm", text) || sscanf(text, "%llu %llu", &size_pages, &resident_pages) != 2)
    return false;
  uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
  facts->private_bytes = size_pages * page_bytes;
  facts->resident_bytes = resident_pages * page_bytes;
  return true;
}

static bool read_handles(struct csi_process_facts *facts) {
  struct rlimit limit;
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) return false;
  while (readdir(directory) != NULL)
    facts->handles++;
  closedir(directory);
  facts->handles -= 3; /* "." and "..", and the directory itself */
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  facts->handles_max = limit.rlim_cur > UINT32_MAX ? UINT32_MAX : (uint32_t)limit.rlim_cur;
  return true;
}

bool csi_process_facts(struct csi_process_facts *facts_out) {
  struct csi_process_facts facts = {0};
  struct timespec cpu;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu) != 0) return false;
  facts.cpu_ns = (uint64_t)cpu.tv_sec * NS_PER_S + (uint64_t)cpu.tv_nsec;
  if (!read_stat(&facts) || !read_memory(&facts) || !read_handles(&facts)) return false;
  *facts_out = facts;
  return true;
}
