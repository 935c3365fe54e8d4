/* SPDX-License-Identifier: Apache-2.0
 *
 * The thing group of CSI Proxy, whatever version is spoken with the service.
 *
 * Kinds of fields.
 *
 * Strings are UTF-8; a NULL string in a request means the empty string, strings of a response are never
 * NULL.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_PROXY_THING_H
#define CSI_PROXY_THING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csi-proxy/bytes.h"
#include "csi-proxy/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Colours. */
enum csi_thing_colour {
  /* None. */
  CSI_THING_COLOUR_NONE = 0,
  /* Below zero. */
  CSI_THING_COLOUR_DARK = -1,
};

/* The end of a branch. */
struct csi_thing_leaf {
  /* Something to say. At most 17 bytes. */
  const char *text;
};

/* One entry of Everything.texts_by_text. */
struct csi_thing_everything_texts_by_text_entry {
  const char *key;
  const char *value;
};

/* One entry of Everything.leaves_by_number. */
struct csi_thing_everything_leaves_by_number_entry {
  uint32_t key;
  struct csi_thing_leaf value;
};

/* One entry of Everything.bytes_by_number. */
struct csi_thing_everything_bytes_by_number_entry {
  int64_t key;
  struct csi_bytes value;
};

/* One entry of Everything.colours_by_flag. */
struct csi_thing_everything_colours_by_flag_entry {
  bool key;
  enum csi_thing_colour value;
};

/* All kinds. */
struct csi_thing_everything {
  /* A double. */
  double a_double;
  /* A float. */
  float a_float;
  /* An int64. */
  int64_t an_int64;
  /* A uint64. */
  uint64_t a_uint64;
  /* An int32. */
  int32_t an_int32;
  /* A fixed64. */
  uint64_t a_fixed64;
  /* A fixed32. */
  uint32_t a_fixed32;
  /* A bool. */
  bool a_bool;
  /* A string | with a column. At most 10 bytes. A credential: the service neither logs nor keeps it. */
  const char *a_string;
  /* A message. */
  const struct csi_thing_leaf *a_message; /* NULL = absent */
  /* Bytes. At most 11 bytes. */
  struct csi_bytes some_bytes;
  /* A uint32. */
  uint32_t a_uint32;
  /* An enum. */
  enum csi_thing_colour an_enum;
  /* An sfixed32. */
  int32_t an_sfixed32;
  /* An sfixed64. */
  int64_t an_sfixed64;
  /* An sint32. */
  int32_t an_sint32;
  /* An sint64. */
  int64_t an_sint64;
  /* Numbers. At most 1 element. */
  size_t numbers_count;
  const int64_t *numbers;
  /* Flags. At most 2 elements. */
  size_t flags_count;
  const bool *flags;
  /* Texts. At most 12 bytes each. At most 3 elements. */
  size_t texts_count;
  const char *const *texts;
  /* Blobs. At most 13 bytes each. At most 4 elements. */
  size_t blobs_count;
  const struct csi_bytes *blobs;
  /* Colours. At most 5 elements. */
  size_t colours_count;
  const enum csi_thing_colour *colours;
  /* Messages. At most 6 elements. */
  size_t leaves_count;
  const struct csi_thing_leaf *leaves;
  /* Texts by text. At most 14 bytes each. At most 7 elements. Sorted by key when it was received. */
  size_t texts_by_text_count;
  const struct csi_thing_everything_texts_by_text_entry *texts_by_text;
  /* Messages by number. At most 8 elements. Sorted by key when it was received. */
  size_t leaves_by_number_count;
  const struct csi_thing_everything_leaves_by_number_entry *leaves_by_number;
  /* Bytes by number. At most 15 bytes each. At most 9 elements. Sorted by key when it was received. */
  size_t bytes_by_number_count;
  const struct csi_thing_everything_bytes_by_number_entry *bytes_by_number;
  /* Colours by flag. At most 2 elements. Sorted by key when it was received. */
  size_t colours_by_flag_count;
  const struct csi_thing_everything_colours_by_flag_entry *colours_by_flag;
  /* Disks, in a name with a run of capitals. At most 16 bytes each. At most 1 element. */
  size_t disk_ids_count;
  const char *const *disk_ids;
};

/* Sends everything there and back.
 *
 *   one line set apart
 *   and another
 *
 * client (in): connected to the thing group; may be in use by other threads.
 * request (in): borrowed for the call; NULL = every field has its default.
 * options (in): borrowed for the call; NULL for the defaults.
 * response_out (out): the response, to be freed with csi_response_free(); NULL on failure.
 * error_out (out): filled on failure; may be NULL.
 *
 * Returns CSI_OK, or the code of *error_out: CSI_UNIMPLEMENTED when the connected version does not
 * have the call, CSI_DEADLINE_EXCEEDED when options->timeout_ms passed, CSI_UNAVAILABLE when the
 * connection is lost, CSI_RESOURCE_EXHAUSTED when memory is short, CSI_UNKNOWN for what the service
 * refused; then precise_code and number tell more.
 * Blocks until the answer is there, which may take minutes.
 * Versions: v1beta2. */
CSI_PROXY_API enum csi_code csi_thing_echo(
    struct csi_client *client, const struct csi_thing_everything *request,
    const struct csi_call_options *options, struct csi_thing_everything **response_out,
    struct csi_error *error_out);

#ifdef __cplusplus
}
#endif

#endif
