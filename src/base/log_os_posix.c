/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_os.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void csi_log_os_now(struct csi_log_time *now_out) {
  struct timespec now;
  struct tm local = {0};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  (void)localtime_r(&now.tv_sec, &local);
  *now_out = (struct csi_log_time){
      .year = local.tm_year + 1900,
      .month = local.tm_mon + 1,
      .day = local.tm_mday,
      .hour = local.tm_hour,
      .minute = local.tm_min,
      .second = local.tm_sec,
      .microsecond = (int)(now.tv_nsec / 1000),
  };
}

unsigned long csi_log_os_process_id(void) {
  return (unsigned long)getpid();
}

void csi_log_os_write_stderr(const char *text, size_t length_bytes) {
  (void)csi_log_os_write(STDERR_FILENO, text, length_bytes);
}

bool csi_log_os_open(const char *path, intptr_t *file_out, uint64_t *size_bytes_out,
                     struct csi_status *status) {
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)errno, "open", "open %s", path);
  struct stat information;
  *size_bytes_out = fstat(file, &information) == 0 ? (uint64_t)information.st_size : 0;
  *file_out = file;
  return true;
}

bool csi_log_os_write(intptr_t file, const char *data, size_t length_bytes) {
  while (length_bytes > 0) {
    ssize_t written = write((int)file, data, length_bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    length_bytes -= (size_t)written;
  }
  return true;
}

void csi_log_os_close(intptr_t file) {
  (void)close((int)file);
}

bool csi_log_os_rename(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0;
}

void csi_log_os_remove(const char *path) {
  (void)unlink(path);
}

void csi_log_os_each_name(const char *directory, void (*visit)(void *data, const char *name), void *data) {
  DIR *stream = opendir(directory);
  if (stream == NULL) return;
  for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
    visit(data, entry->d_name);
  (void)closedir(stream);
}

void csi_log_os_host_name(char *buffer, size_t buffer_bytes) {
  if (gethostname(buffer, buffer_bytes) != 0) (void)snprintf(buffer, buffer_bytes, "unknownhost");
  buffer[buffer_bytes - 1] = '\0';
}

void csi_log_os_user_name(char *buffer, size_t buffer_bytes) {
  const char *user = getenv("USER");
  (void)snprintf(buffer, buffer_bytes, "%s", user == NULL ? "unknownuser" : user);
}

void csi_log_os_temp_directory(char *buffer, size_t buffer_bytes) {
  const char *directory = getenv("TMPDIR");
  (void)snprintf(buffer, buffer_bytes, "%s", directory == NULL ? "/tmp" : directory);
}

size_t csi_log_os_backtrace(void **addresses, size_t limit) {
  int count = backtrace(addresses, (int)limit);
  return count < 0 ? 0 : (size_t)count;
}
