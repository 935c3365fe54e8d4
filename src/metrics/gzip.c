/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum {
  WINDOW_BITS = 13, /* 8 KiB: names repeat within that */
  GZIP_FORMAT = 16, /* added to the window bits */
  MEMORY_LEVEL = 7,
};

/* The parameters of a coding, ";q=0.5": true unless they say never. */
static bool is_wanted(const char *parameters, size_t length) {
  for (size_t i = 0; i + 1 < length; i++) {
    if ((parameters[i] != 'q' && parameters[i] != 'Q') || parameters[i + 1] != '=') continue;
    const char *value = parameters + i + 2;
    return strspn(value, "0.") < strcspn(value, ", \t;"); /* some digit is not 0 */
  }
  return true;
}

/* What an item of the header says of gzip. */
static void judge(const char *item, size_t length, bool *named, bool *accepted) {
  size_t name_bytes = strcspn(item, ",; \t");
  bool wanted = is_wanted(item + name_bytes, length - name_bytes);
  if (name_bytes == 4 && strncasecmp(item, "gzip", 4) == 0) {
    *named = true;
    *accepted = wanted;
  } else if (name_bytes == 1 && *item == '*' && !*named) {
    *accepted = wanted;
  }
}

bool csi_gzip_is_accepted(const char *accept_encoding) {
  const char *at = accept_encoding == NULL ? "" : accept_encoding;
  bool named = false, accepted = false; /* by its name, which goes before "*" */
  while (*at != '\0') {
    at += strspn(at, ", \t");
    size_t item_bytes = strcspn(at, ",");
    judge(at, item_bytes, &named, &accepted);
    at += item_bytes;
  }
  return accepted;
}

bool csi_gzip(const char *text, size_t length_bytes, char **out, size_t *out_bytes) {
  z_stream stream = {0};
  if (length_bytes > UINT_MAX / 2 ||
      deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS + GZIP_FORMAT, MEMORY_LEVEL,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return false;
  uLong bound_bytes = deflateBound(&stream, (uLong)length_bytes);
  char *block = malloc(bound_bytes);
  bool done = false;
  if (block != NULL) {
    stream.next_in = (Bytef *)text;
    stream.avail_in = (uInt)length_bytes;
    stream.next_out = (Bytef *)block;
    stream.avail_out = (uInt)bound_bytes;
    done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  }
  deflateEnd(&stream);
  if (!done) {
    free(block);
    return false;
  }
  *out = block;
  *out_bytes = stream.total_out;
  return true;
}
