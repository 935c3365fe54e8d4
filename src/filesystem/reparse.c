/* SPDX-License-Identifier: Apache-2.0 */
#include "filesystem/reparse.h"

#include <string.h>

#include "base/text.h"

/* Layout: ReparseTag u32, ReparseDataLength u16, Reserved u16; then for links SubstituteNameOffset,
 * SubstituteNameLength, PrintNameOffset, PrintNameLength, all u16 and in bytes; then for symbolic links
 * Flags u32; then the names, to which the offsets are relative. Little-endian. */
enum {
  HEADER_BYTES = 8,
  NAME_FIELDS_BYTES = 8,
  SYMLINK_FLAGS_BYTES = 4,
  FLAG_RELATIVE = 1,
};

static uint16_t get_u16(const uint8_t *bytes) {
  return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t get_u32(const uint8_t *bytes) {
  return get_u16(bytes) | (uint32_t)get_u16(bytes + 2) << 16;
}

static void put_u16(uint8_t *bytes, uint16_t value) {
  bytes[0] = (uint8_t)value;
  bytes[1] = (uint8_t)(value >> 8);
}

static void put_u32(uint8_t *bytes, uint32_t value) {
  put_u16(bytes, (uint16_t)value);
  put_u16(bytes + 2, (uint16_t)(value >> 16));
}

static bool fail_malformed(struct csi_ctx *ctx, const char *what) {
  return csi_fail(&ctx->status, CSI_DATA_LOSS, "malformed reparse point: %s", what);
}

/* fields: offset and length of one name; names: where offsets count from. */
static bool read_name(struct csi_ctx *ctx, const uint8_t *fields, const uint8_t *names, size_t names_bytes,
                      const char **name_out) {
  size_t offset = get_u16(fields);
  size_t bytes = get_u16(fields + 2);
  if (offset % 2 != 0 || bytes % 2 != 0) return fail_malformed(ctx, "a name of half a character");
  if (offset > names_bytes || bytes > names_bytes - offset)
    return fail_malformed(ctx, "a name beyond its end");
  size_t units = bytes / 2;
  uint16_t *name_w = csi_arena_alloc_array(ctx->arena, units + 1, sizeof *name_w);
  if (name_w == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < units; i++) {
    name_w[i] = get_u16(names + offset + 2 * i);
    if (name_w[i] == 0) return fail_malformed(ctx, "a name that holds a NUL");
  }
  *name_out = csi_utf8_from_utf16(ctx->arena, name_w, units);
  return *name_out != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool is_drive(const char *path) {
  return ((path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z')) && path[1] == ':' &&
         (path[2] == '\\' || path[2] == '\0');
}

/* Length of `Volume{8-4-4-4-12 hex digits}` at text; 0 when it is not there. */
static size_t volume_name_bytes(const char *text) {
  static const char shape[] = "Volume{hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh}";
  if (!csi_utf8_has_prefix_ignore_case(text, "Volume{")) return 0;
  for (size_t i = sizeof "Volume{" - 1; i < sizeof shape - 1; i++) {
    char c = text[i];
    bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (shape[i] == 'h' ? !is_hex : c != shape[i]) return 0;
  }
  return sizeof shape - 1;
}

static bool is_volume(const char *name) {
  size_t bytes = volume_name_bytes(name);
  return bytes > 0 && (name[bytes] == '\\' || name[bytes] == '\0');
}

/* Sorts an absolute NT name such as `\??\C:\a` and rewrites it as people write paths. */
static bool classify(struct csi_ctx *ctx, const char *substitute, struct csi_reparse *reparse) {
  const char *prefix = "";
  const char *rest = substitute;
  reparse->kind = CSI_LINK_OTHER;
  if (csi_utf8_has_prefix_ignore_case(substitute, "\\??\\")) {
    rest = substitute + 4;
    prefix = "\\\\?\\";
    if (is_drive(rest)) {
      reparse->kind = CSI_LINK_DRIVE;
      prefix = "";
    } else if (csi_utf8_has_prefix_ignore_case(rest, "UNC\\")) {
      reparse->kind = CSI_LINK_UNC;
      prefix = "\\\\";
      rest += 4;
    } else if (is_volume(rest)) {
      reparse->kind = CSI_LINK_VOLUME;
    }
  } else if (csi_utf8_has_prefix_ignore_case(substitute, "\\\\")) {
    reparse->kind = CSI_LINK_UNC;
  }
  reparse->target = csi_arena_printf(ctx->arena, "%s%s", prefix, rest);
  return reparse->target != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool parse_link(struct csi_ctx *ctx, const uint8_t *data, size_t data_bytes,
                       struct csi_reparse *reparse) {
  bool symlink = reparse->tag == CSI_REPARSE_TAG_SYMLINK;
  size_t fields_bytes = NAME_FIELDS_BYTES + (symlink ? SYMLINK_FLAGS_BYTES : 0);
  if (data_bytes < fields_bytes) return fail_malformed(ctx, "it ends before its names");
  const uint8_t *names = data + fields_bytes;
  const char *substitute;
  if (!read_name(ctx, data, names, data_bytes - fields_bytes, &substitute)) return false;
  if (!read_name(ctx, data + 4, names, data_bytes - fields_bytes, &reparse->print)) return false;
  if (substitute[0] == '\0') return fail_malformed(ctx, "it leads nowhere");
  if (symlink && (get_u32(data + NAME_FIELDS_BYTES) & FLAG_RELATIVE) != 0) {
    reparse->kind = CSI_LINK_RELATIVE;
    reparse->target = substitute;
    return true;
  }
  return classify(ctx, substitute, reparse);
}

bool csi_reparse_parse(struct csi_ctx *ctx, const uint8_t *bytes, size_t size_bytes,
                       struct csi_reparse *reparse_out) {
  if (size_bytes < HEADER_BYTES || size_bytes > CSI_REPARSE_BYTES_MAX)
    return fail_malformed(ctx, "impossible size");
  size_t data_bytes = get_u16(bytes + 4);
  struct csi_reparse reparse = {.tag = get_u32(bytes), .kind = CSI_LINK_NONE, .print = ""};
  if (reparse.tag == CSI_REPARSE_TAG_SYMLINK || reparse.tag == CSI_REPARSE_TAG_MOUNT_POINT) {
    if (data_bytes > size_bytes - HEADER_BYTES) return fail_malformed(ctx, "it is cut short");
    if (!parse_link(ctx, bytes + HEADER_BYTES, data_bytes, &reparse)) return false;
  }
  *reparse_out = reparse;
  return true;
}

bool csi_reparse_is_volume_root(const struct csi_reparse *reparse) {
  if (reparse->kind != CSI_LINK_VOLUME) return false;
  const char *name = reparse->target + 4;
  const char *rest = name + volume_name_bytes(name);
  return rest[strspn(rest, "\\")] == '\0';
}

static void put_name(uint8_t *names, size_t *at, const uint16_t *name_w, size_t units) {
  for (size_t i = 0; i < units; i++)
    put_u16(names + *at + 2 * i, name_w[i]);
  *at += 2 * units;
}

bool csi_reparse_build_symlink(struct csi_ctx *ctx, const char *target, uint8_t *bytes_out,
                               size_t *size_out) {
  static const uint16_t nt_prefix_w[] = {'\\', '?', '?', '\\', 'U', 'N', 'C'};
  enum { PREFIX_UNITS = 4, UNC_UNITS = 7, NAMES_AT = HEADER_BYTES + NAME_FIELDS_BYTES + SYMLINK_FLAGS_BYTES };
  bool is_unc = strncmp(target, "\\\\", 2) == 0;
  size_t units;
  uint16_t *target_w = csi_utf16_from_utf8(ctx->arena, target, strlen(target), &units, &ctx->status);
  if (target_w == NULL) return false;
  if (units > (CSI_REPARSE_BYTES_MAX - NAMES_AT) / 2 / 2 - PREFIX_UNITS)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "target of link is too long: %zu characters", units);

  uint8_t *names = bytes_out + NAMES_AT;
  size_t at = 0;
  put_name(names, &at, nt_prefix_w, is_unc ? UNC_UNITS : PREFIX_UNITS);
  put_name(names, &at, target_w + is_unc, units - is_unc); /* of the two separators one */
  size_t substitute_bytes = at;
  put_name(names, &at, target_w, units);

  memset(bytes_out, 0, NAMES_AT);
  put_u32(bytes_out, CSI_REPARSE_TAG_SYMLINK);
  put_u16(bytes_out + 4, (uint16_t)(NAMES_AT - HEADER_BYTES + at));
  uint8_t *fields = bytes_out + HEADER_BYTES;
  put_u16(fields + 2, (uint16_t)substitute_bytes);
  put_u16(fields + 4, (uint16_t)substitute_bytes);
  put_u16(fields + 6, (uint16_t)(at - substitute_bytes));
  *size_out = NAMES_AT + at;
  return true;
}

/* Windows wants both names to end in a NUL here, and the second to follow the first. */
bool csi_reparse_build_mounted_folder(struct csi_ctx *ctx, const char *volume, uint8_t *bytes_out,
                                      size_t *size_out) {
  enum { NAMES_AT = HEADER_BYTES + NAME_FIELDS_BYTES, NUL_BYTES = 2 };
  size_t units;
  uint16_t *volume_w = csi_utf16_from_utf8(ctx->arena, volume, strlen(volume), &units, &ctx->status);
  if (volume_w == NULL) return false;
  if (units < sizeof "\\\\?\\" - 1 || units > CSI_REPARSE_BYTES_MAX / 4)
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "no name of a volume: %s", volume);
  volume_w[1] = '?'; /* `\??\`, as the kernel spells it */

  memset(bytes_out, 0, NAMES_AT);
  uint8_t *names = bytes_out + NAMES_AT;
  size_t at = 0;
  put_name(names, &at, volume_w, units);
  size_t volume_bytes = at;
  memset(names + at, 0, 2 * NUL_BYTES);
  at += 2 * NUL_BYTES;
  put_u32(bytes_out, CSI_REPARSE_TAG_MOUNT_POINT);
  put_u16(bytes_out + 4, (uint16_t)(NAME_FIELDS_BYTES + at));
  uint8_t *fields = bytes_out + HEADER_BYTES;
  put_u16(fields + 2, (uint16_t)volume_bytes);
  put_u16(fields + 4, (uint16_t)(volume_bytes + NUL_BYTES));
  *size_out = NAMES_AT + at;
  return true;
}
