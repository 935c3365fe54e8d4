/* SPDX-License-Identifier: Apache-2.0
 *
 * Commands to the node in memory, over the control socket of csi-proxy-native.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "scene.h"

static FILE *in, *out;

bool scene_open(const struct settings *settings, char *why, size_t why_bytes) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s",
           settings->control == NULL ? "" : settings->control);
  int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
    snprintf(why, why_bytes, "--control %s: %s", address.sun_path, strerror(errno));
    if (connection >= 0) close(connection);
    return false;
  }
  in = fdopen(connection, "r");
  out = fdopen(dup(connection), "w");
  if (in != NULL && out != NULL) return true;
  snprintf(why, why_bytes, "out of memory");
  return false;
}

void scene_close(void) {
  if (in != NULL) fclose(in);
  if (out != NULL) fclose(out);
}

bool scene_command(const char *line, char *reply, size_t reply_bytes) {
  char text[4096];
  size_t used = 0;
  reply[0] = '\0';
  fprintf(out, "%s\n", line);
  fflush(out);
  while (fgets(text, sizeof text, in) != NULL) {
    if (strcmp(text, ". ok\n") == 0) return true;
    bool failed = strncmp(text, ". error: ", 9) == 0;
    if (failed) used = 0;
    int length = snprintf(reply + used, reply_bytes - used, "%s", failed ? text + 9 : text);
    if (failed) reply[strcspn(reply, "\n")] = '\0';
    if (failed) return false;
    used += (size_t)length < reply_bytes - used ? (size_t)length : reply_bytes - used - 1;
  }
  snprintf(reply, reply_bytes, "the service has ended");
  return false;
}

bool scene_set_page_file(uint32_t disk, const char *id, char *reply, size_t reply_bytes) {
  char line[64];
  if (id == NULL) return true; /* the disk is removed after the case */
  snprintf(line, sizeof line, "disk set number=%u roles=page-file", (unsigned)disk);
  return scene_command(line, reply, reply_bytes);
}

bool scene_set_format(uint32_t disk, enum scene_format format, char *reply, size_t reply_bytes) {
  char line[96];
  if (format == SCENE_FORMAT_WORKS) return scene_command("fault clear", reply, reply_bytes);
  snprintf(line, sizeof line, "fault add disk=%u call=FormatEx %s", (unsigned)disk,
           format == SCENE_FORMAT_HANGS ? "hang" : "fail=0xC0000185");
  return scene_command(line, reply, reply_bytes);
}
