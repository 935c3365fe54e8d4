/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/wipe.h"

enum { FIRST_BYTES = 4096 };

/* What has been read so far. Growing leaves nothing behind: it may be a password. */
struct pile {
  char *bytes;
  size_t length;
  size_t capacity;
};

static bool make_room(struct pile *pile) {
  if (pile->length < pile->capacity) return true;
  size_t capacity = pile->capacity > 0 ? pile->capacity * 2 : FIRST_BYTES;
  char *bytes = malloc(capacity);
  if (bytes == NULL) return false;
  if (pile->length > 0) memcpy(bytes, pile->bytes, pile->length);
  csi_wipe(pile->bytes, pile->capacity);
  free(pile->bytes);
  pile->bytes = bytes;
  pile->capacity = capacity;
  return true;
}

static bool read_all(FILE *file, const char *name, size_t limit_bytes, struct pile *pile,
                     struct csi_ctl_error *error) {
  for (;;) {
    if (!make_room(pile)) return csi_ctl_fail_out_of_memory(error);
    size_t count = fread(pile->bytes + pile->length, 1, pile->capacity - pile->length, file);
    pile->length += count;
    if (pile->length > limit_bytes)
      return csi_ctl_wrong(error, "%s is longer than %zu bytes", name, limit_bytes);
    if (count > 0) continue;
    if (ferror(file)) return csi_ctl_wrong(error, "cannot read %s: %s", name, strerror(errno));
    return true;
  }
}

/* What > and Out-File of PowerShell 5.1 write. malloc() has aligned the pile. */
static bool keep_utf16(struct csi_ctl *ctl, const struct pile *pile, const char **text_out,
                       size_t *length_out, struct csi_ctl_error *error) {
  size_t units = pile->length / 2 - 1;
  *text_out = csi_utf8_from_utf16(ctl->arena, (const uint16_t *)(const void *)pile->bytes + 1, units);
  if (*text_out == NULL) return csi_ctl_fail_out_of_memory(error);
  *length_out = strlen(*text_out);
  return true;
}

static bool keep(struct csi_ctl *ctl, const struct pile *pile, const char **text_out, size_t *length_out,
                 struct csi_ctl_error *error) {
  static const char mark[] = "\xEF\xBB\xBF", wide_mark[] = "\xFF\xFE";
  if (pile->length >= 2 && memcmp(pile->bytes, wide_mark, 2) == 0)
    return keep_utf16(ctl, pile, text_out, length_out, error);
  size_t skip = pile->length >= 3 && memcmp(pile->bytes, mark, 3) == 0 ? 3 : 0;
  *length_out = pile->length - skip;
  *text_out = csi_arena_strndup(ctl->arena, pile->bytes + skip, *length_out);
  return *text_out != NULL || csi_ctl_fail_out_of_memory(error);
}

bool csi_ctl_read_file(struct csi_ctl *ctl, const char *path, size_t limit_bytes, const char **text_out,
                       size_t *length_out, struct csi_ctl_error *error) {
  const char *name = path != NULL ? path : "standard input";
  FILE *file = csi_ctl_open_file(path);
  if (file == NULL) return csi_ctl_wrong(error, "cannot open %s: %s", name, strerror(errno));
  setvbuf(file, NULL, _IONBF, 0);
  struct pile pile = {0};
  bool done =
      read_all(file, name, limit_bytes, &pile, error) && keep(ctl, &pile, text_out, length_out, error);
  csi_wipe(pile.bytes, pile.capacity);
  free(pile.bytes);
  if (path != NULL) fclose(file);
  return done;
}
