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

static struct csi_log_time to_log_time(const struct tm *time, int microsecond) {
  return (struct csi_log_time){
      .year = time->tm_year + 1900,
      .month = time->tm_mon + 1,
      .day = time->tm_mday,
      .hour = time->tm_hour,
      .minute = time->tm_min,
      .second = time->tm_sec,
      .microsecond = microsecond,
  };
}

void csi_log_os_now(struct csi_log_time *now_out) {
  struct timespec now;
  struct tm local = {0};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  (void)localtime_r(&now.tv_sec, &local);
  *now_out = to_log_time(&local, (int)(now.tv_nsec / 1000));
}

void csi_log_os_utc(int64_t unix_ms, struct csi_log_time *utc_out) {
  const time_t seconds = unix_ms / 1000;
  struct tm utc = {0};
  (void)gmtime_r(&seconds, &utc);
  *utc_out = to_log_time(&utc, (int)(unix_ms % 1000) * 1000);
}

static int64_t to_ms(int64_t seconds, int64_t nanoseconds) {
  return seconds * 1000 + nanoseconds / 1000000;
}

int64_t csi_log_os_unix_ms(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  return to_ms(now.tv_sec, now.tv_nsec);
}

unsigned long csi_log_os_process_id(void) {
  return (unsigned long)getpid();
}

void csi_log_os_write_stderr(const char *text, size_t length_bytes) {
  (void)csi_log_os_write(STDERR_FILENO, text, length_bytes);
}

/* Who may not read the file, or has no file of the disk, does not know. */
static bool is_cut(const char *path, uint64_t size_bytes) {
  char last = '\n';
  int file = size_bytes == 0 ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  (void)!pread(file, &last, 1, (off_t)(size_bytes - 1));
  (void)close(file);
  return last != '\n';
}

bool csi_log_os_open(const char *path, intptr_t *file_out, uint64_t *size_bytes_out, int64_t *begun_ms_out,
                     bool *is_cut_out, struct csi_status *status) {
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return csi_fail_system(status, CSI_SPACE_ERRNO, (uint32_t)errno, "open", "open %s", path);
  struct statx information = {0};
  (void)statx(file, "", AT_EMPTY_PATH, STATX_SIZE | STATX_BTIME | STATX_MTIME, &information);
  const bool knows_birth = (information.stx_mask & STATX_BTIME) != 0;
  const struct statx_timestamp *begun = knows_birth ? &information.stx_btime : &information.stx_mtime;
  *size_bytes_out = information.stx_size;
  *begun_ms_out = to_ms(begun->tv_sec, begun->tv_nsec);
  *is_cut_out = is_cut(path, information.stx_size);
  *file_out = file;
  return true;
}

size_t csi_log_os_write(intptr_t file, const char *data, size_t length_bytes) {
  size_t done = 0;
  while (done < length_bytes) {
    ssize_t written = write((int)file, data + done, length_bytes - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += (size_t)written;
  }
  return done;
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

bool csi_log_os_is_directory(const char *path) {
  struct stat information;
  return stat(path, &information) == 0 && S_ISDIR(information.st_mode);
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
