/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/remote_path.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "filesystem/host.h"
#include "filesystem/path_name.h"
#include "filesystem/path_policy.h"

enum {
  LABEL_BYTES = 63, /* longest part of a host name between dots */
  IPV6_GROUPS = 8,
};

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_one_of(const struct csi_path_part *part, const char *const *names) {
  for (; *names != NULL; names++)
    if (csi_utf8_compare_ignore_case(part->text, part->bytes, *names, strlen(*names)) == 0) return true;
  return false;
}

/* ---- Hosts. ---- */

/* A name of letters, digits, `-` and `_`; other scripts are left to the resolver. */
static const char *label_flaw(const char *label, size_t bytes) {
  if (bytes == 0) return "the host has an empty part between dots";
  if (bytes > LABEL_BYTES) return "a part of the host is too long";
  for (size_t i = 0; i < bytes; i++) {
    if (label[i] == '@') return "the host has an @; ports and WebDAV are not supported";
    bool fits = is_letter(label[i]) || is_digit(label[i]) || label[i] == '-' || label[i] == '_' ||
                (unsigned char)label[i] >= 0x80;
    if (!fits) return "the host has a character that no host name may have";
  }
  return NULL;
}

/* True when the last part consists of digits: no domain is called so, it is meant as an address. */
static bool looks_like_ipv4(const char *host, size_t bytes) {
  size_t at = bytes;
  while (at > 0 && is_digit(host[at - 1]))
    at--;
  return at < bytes && (at == 0 || host[at - 1] == '.') && memchr(host, '.', bytes) != NULL;
}

static bool is_ipv4(const char *host, size_t bytes) {
  unsigned parts = 0, value = 0, digits = 0;
  for (size_t i = 0; i <= bytes; i++) {
    if (i < bytes && is_digit(host[i])) {
      value = value * 10 + (unsigned)(host[i] - '0');
      if (++digits > 3 || value > 255) return false;
      continue;
    }
    if (digits == 0 || (i < bytes && host[i] != '.')) return false;
    parts++;
    value = digits = 0;
  }
  return parts == 4;
}

/* `fe80--1s4`: dashes for colons, and s before the zone. */
static bool is_ipv6_literal(const char *text, size_t bytes) {
  const char *zone = memchr(text, 's', bytes);
  if (zone == NULL) zone = memchr(text, 'S', bytes);
  if (zone != NULL) {
    if (zone == text + bytes - 1) return false;
    for (const char *c = zone + 1; c < text + bytes; c++)
      if (!is_digit(*c)) return false;
    bytes = (size_t)(zone - text);
  }
  unsigned groups = 0, digits = 0;
  bool shortened = false;
  for (size_t i = 0; i < bytes; i++) {
    if (is_hex(text[i])) {
      if (digits == 0) groups++;
      if (++digits > 4) return false;
      continue;
    }
    if (text[i] != '-') return false;
    bool doubled = i + 1 < bytes && text[i + 1] == '-';
    if ((doubled && shortened) || (!doubled && (digits == 0 || i + 1 == bytes))) return false;
    shortened |= doubled;
    i += doubled;
    digits = 0;
  }
  return shortened ? groups < IPV6_GROUPS : groups == IPV6_GROUPS;
}

/* What is wrong with a host; NULL when nothing is. */
static const char *host_flaw(const struct csi_path_part *host) {
  static const char ipv6_suffix[] = ".ipv6-literal.net";
  const size_t suffix_bytes = sizeof ipv6_suffix - 1;
  if (host->bytes > CSI_REMOTE_HOST_BYTES) return "the host is too long";
  if (memchr(host->text, ':', host->bytes) != NULL)
    return "the host has a colon; an IPv6 address is written as in fe80--1.ipv6-literal.net, and a share has "
           "neither drive nor port";
  size_t bytes = host->bytes;
  if (host->text[bytes - 1] == '.') bytes--; /* a name with all its domains */
  for (size_t at = 0; at <= bytes;) {
    const char *dot = memchr(host->text + at, '.', bytes - at);
    size_t label_bytes = dot == NULL ? bytes - at : (size_t)(dot - host->text) - at;
    const char *flaw = label_flaw(host->text + at, label_bytes);
    if (flaw != NULL) return flaw;
    at += label_bytes + 1;
  }
  if (looks_like_ipv4(host->text, bytes) && !is_ipv4(host->text, host->bytes))
    return "the host is no IPv4 address";
  if (bytes > suffix_bytes &&
      csi_utf8_compare_ignore_case(host->text + bytes - suffix_bytes, suffix_bytes, ipv6_suffix,
                                   suffix_bytes) == 0 &&
      !is_ipv6_literal(host->text, bytes - suffix_bytes))
    return "the host is no IPv6 address";
  return NULL;
}

/* ---- Shares and directories. ---- */

/* Length as Windows counts it. text is valid UTF-8. */
static size_t units_of(const struct csi_path_part *part) {
  size_t units = 0;
  for (size_t i = 0; i < part->bytes; i++) {
    unsigned char c = (unsigned char)part->text[i];
    units += (c & 0xC0) != 0x80;
    units += c >= 0xF0;
  }
  return units;
}

static const char *share_flaw(const struct csi_path_part *share) {
  static const char *const no_shares[] = {"IPC$", "PIPE", "MAILSLOT", NULL};
  const char *flaw = csi_path_name_flaw(share->text, share->bytes);
  if (flaw != NULL) return flaw;
  for (size_t i = 0; i < share->bytes; i++)
    if (strchr("[]+=;,", share->text[i]) != NULL) return "a character that no share may have";
  if (units_of(share) > CSI_REMOTE_SHARE_UNITS) return "the share is too long";
  if (is_one_of(share, no_shares)) return "this is a way to the services of a server, not a share of files";
  return NULL;
}

static bool is_administrative(const struct csi_path_part *share) {
  return share->text[share->bytes - 1] == '$';
}

static bool ends_with(const struct csi_path_part *part, const char *end) {
  size_t bytes = strlen(end);
  return part->bytes >= bytes &&
         csi_utf8_compare_ignore_case(part->text + part->bytes - bytes, bytes, end, bytes) == 0;
}

/* `--1`, `0-0-0-0-0-0-0-1`, with or without a zone. */
static bool is_ipv6_loopback(const struct csi_path_part *host) {
  size_t bytes = strspn(host->text, "0-");
  return bytes < host->bytes && host->text[bytes] == '1' && strchr(".sS", host->text[bytes + 1]) != NULL;
}

static bool is_loopback(const struct csi_path_part *host) {
  struct csi_path_part name = *host;
  if (name.text[name.bytes - 1] == '.') name.bytes--;
  if (ends_with(&name, ".ipv6-literal.net")) return is_ipv6_loopback(&name);
  bool is_localhost =
      ends_with(&name, "localhost") && (name.bytes == strlen("localhost") || ends_with(&name, ".localhost"));
  return is_localhost || (is_ipv4(name.text, name.bytes) &&
                          (strncmp(name.text, "127.", 4) == 0 || strncmp(name.text, "0.", 2) == 0));
}

/* ---- Lower case. ---- */

/* The unit that folds to the same as this one and is not folded itself. Beyond the scripts whose capitals
 * stand at these distances, names stay as they are. */
static uint16_t to_lower(uint16_t unit) {
  static const uint16_t distances[] = {0x20, 0x01, 0x50, 0x30, 0x25, 0x26, 0x3F, 0x40};
  if (csi_utf16_upcase(unit) != unit) return unit;
  for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
    uint16_t lower = (uint16_t)(unit + distances[i]);
    if (lower > unit && csi_utf16_upcase(lower) == unit) return lower;
  }
  return unit;
}

static char *lower_case(struct csi_ctx *ctx, const char *text) {
  size_t units;
  uint16_t *text_w = csi_utf16_from_utf8(ctx->arena, text, strlen(text), &units, &ctx->status);
  if (text_w == NULL) return NULL;
  for (size_t i = 0; i < units; i++)
    text_w[i] = to_lower(text_w[i]);
  char *lower = csi_utf8_from_utf16(ctx->arena, text_w, units);
  if (lower == NULL) csi_fail_out_of_memory(&ctx->status);
  return lower;
}

/* ---- The whole. ---- */

static bool fail_invalid(struct csi_ctx *ctx, const char *given, const char *flaw) {
  return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "remote path (%s) is invalid: %s", given, flaw);
}

/* `\\?\`, `\\.\`, `\??\` and `C:\`, whatever comes behind them. */
static const char *prefix_flaw(const char *given) {
  const char *name = given + strspn(given, "\\");
  size_t bytes = strcspn(name, "\\");
  if (bytes == 1 && (name[0] == '?' || name[0] == '.')) return "devices and verbatim paths are not supported";
  if (bytes == 2 && strncmp(name, "??", 2) == 0) return "devices and verbatim paths are not supported";
  if (bytes == 2 && is_letter(name[0]) && name[1] == ':')
    return "this is a local path; \\\\host\\share is wanted";
  return NULL;
}

static const char *directories_flaw(const char *rest) {
  struct csi_path_part part;
  while (csi_path_next(&rest, &part)) {
    const char *flaw = csi_path_name_flaw(part.text, part.bytes);
    if (flaw != NULL) return flaw;
    if (units_of(&part) > CSI_NAME_UNITS_MAX) return "a directory has too long a name";
  }
  return NULL;
}

/* What is wrong with the path; NULL, host and share when nothing is. rest_out: what is below the share. */
static const char *take_apart(const char *given, struct csi_path_part *host, struct csi_path_part *share,
                              const char **rest_out) {
  const char *flaw = prefix_flaw(given);
  if (flaw != NULL) return flaw;
  *rest_out = given;
  if (!csi_path_next(rest_out, host) || !csi_path_next(rest_out, share))
    return "it names no share; \\\\host\\share is wanted";
  flaw = host_flaw(host);
  if (flaw == NULL) flaw = share_flaw(share);
  return flaw != NULL ? flaw : directories_flaw(*rest_out);
}

/* The path with single separators, two at the beginning, and one at the end. */
static char *write_target(struct csi_ctx *ctx, const char *given) {
  char *target = csi_arena_alloc(ctx->arena, strlen(given) + sizeof "\\\\\\");
  if (target == NULL) {
    csi_fail_out_of_memory(&ctx->status);
    return NULL;
  }
  char *end = target;
  *end++ = '\\';
  struct csi_path_part part;
  while (csi_path_next(&given, &part)) {
    *end++ = '\\';
    memcpy(end, part.text, part.bytes);
    end += part.bytes;
  }
  *end++ = '\\';
  *end = '\0';
  return target;
}

bool csi_remote_path_parse(struct csi_ctx *ctx, const char *path, struct csi_remote_path *path_out) {
  if (path[0] == '\0') return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "remote path is empty");
  char *given = csi_arena_strdup(ctx->arena, path);
  if (given == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (char *c = given; *c != '\0'; c++)
    if (*c == '/') *c = '\\';
  if (!csi_utf8_is_valid(given, strlen(given))) return fail_invalid(ctx, given, "it is not UTF-8");
  struct csi_path_part host, share;
  const char *rest;
  const char *flaw = take_apart(given, &host, &share, &rest);
  if (flaw != NULL) return fail_invalid(ctx, given, flaw);
  const char *root = csi_arena_printf(ctx->arena, "\\\\%.*s\\%.*s", (int)host.bytes, host.text,
                                      (int)share.bytes, share.text);
  if (root == NULL) return csi_fail_out_of_memory(&ctx->status);
  root = lower_case(ctx, root);
  if (root == NULL) return false;
  if (strlen(root) > CSI_REMOTE_ROOT_BYTES) return fail_invalid(ctx, given, "host and share are too long");
  *path_out = (struct csi_remote_path){
      .given = given,
      .root = root,
      .target = write_target(ctx, given),
      .is_administrative = is_administrative(&share),
      .is_loopback = is_loopback(&host),
  };
  return path_out->target != NULL;
}
