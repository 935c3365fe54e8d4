/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text, cut in two: as a value of a query it stays one literal and is read back; as user and password
 * it comes apart again where it was put together; as the two texts of an error it gives a number.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "smb/credential_text.h"
#include "smb/mi_error.h"
#include "smb/wql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
  if (!condition) abort();
}

/* Reads `value`, escaped with backslashes, up to a bare end; returns what follows. */
static const char *read_escaped(const char *text, char end, const char *value) {
  for (; *text != end; text++, value++) {
    if (*text == '\\') text++;
    require(*text != '\0' && *text == *value);
  }
  require(*value == '\0');
  return text + 1;
}

static void check_query(struct csi_arena *arena, const char *value) {
  static const char begin[] = "SELECT * FROM C WHERE P = '";
  const char *query = csi_wql_select(arena, "C", "P", value);
  require(query != NULL && strncmp(query, begin, sizeof begin - 1) == 0);
  require(*read_escaped(query + sizeof begin - 1, '\'', value) == '\0');
}

static void check_error(const char *message_id, const char *type, size_t size) {
  struct csi_mi_failure failure = {.result = (uint32_t)size % 32, .error_code = (uint32_t)size};
  strncat(failure.message_id, message_id, sizeof failure.message_id - 1);
  strncat(failure.error_type, type, sizeof failure.error_type - 1);
  struct csi_mi_error error = csi_mi_error_of_failure(&failure);
  require(error.number != 0 && (error.space == CSI_SPACE_WIN32 || error.space == CSI_SPACE_HRESULT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  struct csi_arena *arena = csi_arena_new(64 * 1024 + 8 * size);
  require(arena != NULL);
  const size_t cut = data[0] % size;
  const char *first = csi_arena_strndup(arena, (const char *)data + 1, cut);
  const char *second = csi_arena_strndup(arena, (const char *)data + 1 + cut, size - 1 - cut);
  require(first != NULL && second != NULL);

  check_query(arena, first);
  const char *credential = csi_smb_credential_text(arena, first, second);
  require(credential != NULL && strcmp(read_escaped(credential, ':', first), second) == 0);
  check_error(first, second, size);
  csi_arena_free(arena);
  return 0;
}
