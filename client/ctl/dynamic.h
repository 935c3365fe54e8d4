/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing messages that are known at run time only: thin over upb's reflection.
 *
 * A path names a field from a message down: "disk.size_bytes". A field that does not exist, or is of another
 * kind, is a mistake in the program, and ends it with its name: the descriptors are built in.
 */
#ifndef CSI_CTL_DYNAMIC_H
#define CSI_CTL_DYNAMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <upb/def.h>
#include <upb/upb.h>

#include "base/arena.h"
#include "client/ctl/ctl.h"
#include "client/ctl/rpc.h"

/* One message inside another, borrowed. */
struct csi_ctl_view {
  const upb_Message *message; /* NULL: not set; every field of it has its default */
  const upb_MessageDef *definition;
};

struct csi_ctl_view csi_ctl_view_of(const struct csi_ctl_message *message);

/* Integers of any width; enums by number. Negative numbers of csi_ctl_u64() wrap. */
uint64_t csi_ctl_u64(struct csi_ctl_view view, const char *path);
int64_t csi_ctl_i64(struct csi_ctl_view view, const char *path);
bool csi_ctl_bool(struct csi_ctl_view view, const char *path);

/* A string field, copied to the arena with a NUL behind it. Never NULL ("" when memory is short). A NUL
 * inside the value ends it. */
const char *csi_ctl_text(struct csi_ctl_view view, const char *path, struct csi_arena *arena);

struct csi_ctl_view csi_ctl_message_at(struct csi_ctl_view view, const char *path);

/* Repeated fields. */
size_t csi_ctl_count(struct csi_ctl_view view, const char *path);
struct csi_ctl_view csi_ctl_item(struct csi_ctl_view view, const char *path, size_t index);
const char *csi_ctl_text_item(struct csi_ctl_view view, const char *path, size_t index,
                              struct csi_arena *arena);
uint64_t csi_ctl_u64_item(struct csi_ctl_view view, const char *path, size_t index);

/* Any scalar or enum but bytes as a person reads it: numbers in decimal, true/false, text as it is, the names
 * of enums, or numbers that have none. What cells of tables are made of. */
const char *csi_ctl_show(struct csi_ctl_view view, const char *path, struct csi_arena *arena);

/* Sets a field of whole numbers; false when memory is short. */
bool csi_ctl_set_u64(struct csi_ctl_message *message, const char *field, uint64_t value);

/* Message to JSON as proto3 defines it (64-bit integers as strings, bytes in base64), with the field names of
 * the proto, fields at their default shown, and maps in the order of their keys. One line without blanks;
 * csi_json_indent() makes it pretty.
 *
 * json_out (out): NUL-terminated, in the arena. False when memory is short. */
bool csi_ctl_to_json(const struct csi_ctl_message *message, struct csi_arena *arena, char **json_out,
                     size_t *json_bytes_out);

/* JSON to a message, strictly: an unknown or repeated name, a value of the wrong type or out of range, text
 * behind the end, what is not UTF-8, more than CSI_CTL_JSON_BYTES or a nesting deeper than CSI_CTL_JSON_DEPTH
 * is wrong usage, and the error says where ("line 1, column 5"). Both the proto's field names and the
 * lowerCamelCase ones of proto3 JSON are taken. */
bool csi_ctl_from_json(const char *json, size_t json_bytes, const upb_MessageDef *definition,
                       struct csi_ctl_message *message_out, struct csi_ctl_error *error);

enum {
  CSI_CTL_JSON_BYTES = 4 * 1024 * 1024, /* the service takes no longer message */
  CSI_CTL_JSON_DEPTH = 32,
};

#endif
