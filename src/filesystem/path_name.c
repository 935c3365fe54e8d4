/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/path_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool is_one_of(const char *name, size_t bytes, const char *const *names) {
  for (; *names != NULL; names++)
    if (csi_utf8_compare_ignore_case(name, bytes, *names, strlen(*names)) == 0) return true;
  return false;
}

/* COM1 to COM9, LPT1 to LPT9; Windows takes the superscript digits for digits too. */
static bool is_port(const char *name, size_t bytes) {
  static const char *const prefixes[] = {"COM", "LPT", NULL};
  static const char *const superscripts[] = {"\u00b9", "\u00b2", "\u00b3", NULL};
  if (bytes < 4 || !is_one_of(name, 3, prefixes)) return false;
  if (bytes == 4) return name[3] >= '1' && name[3] <= '9';
  return is_one_of(name + 3, bytes - 3, superscripts);
}

static bool is_device(const char *name, size_t bytes) {
  static const char *const devices[] = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", NULL};
  const char *dot = memchr(name, '.', bytes);
  if (dot != NULL) bytes = (size_t)(dot - name);
  while (bytes > 0 && name[bytes - 1] == ' ')
    bytes--;
  return is_one_of(name, bytes, devices) || is_port(name, bytes);
}

const char *csi_path_name_flaw(const char *name, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if ((unsigned char)name[i] < 0x20) return "a control character";
    if (strchr("<>\"/\\|?*:", name[i]) != NULL) return "a character that no name may hold";
  }
  if (name[bytes - 1] == '.') return "a name that ends in a dot";
  if (name[bytes - 1] == ' ') return "a name that ends in a blank";
  if (is_device(name, bytes)) return "the name of a device";
  return NULL;
}
