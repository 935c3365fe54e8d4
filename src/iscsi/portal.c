/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/portal.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "iscsi/name.h"

enum {
  GROUPS = 8,          /* of an IPv6 address */
  GROUP_DIGITS = 4,    /* hexadecimal */
  IPV4_BYTES = 4,      /* of an IPv4 address, written between dots */
  ESCAPED_FACTOR = 10, /* how many bytes a byte becomes at most when it is escaped */
};

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/* Reads the IPv4 address at the end of an IPv6 address into two groups. */
static bool read_ipv4_tail(const char *text, const char *end, uint16_t groups_out[2]) {
  unsigned bytes[IPV4_BYTES];
  for (int i = 0; i < IPV4_BYTES; i++) {
    if (i > 0 && (text == end || *text++ != '.')) return false;
    const char *first = text;
    bytes[i] = 0;
    while (text < end && *text >= '0' && *text <= '9' && bytes[i] <= UINT8_MAX)
      bytes[i] = bytes[i] * 10 + (unsigned)(*text++ - '0');
    if (text == first || bytes[i] > UINT8_MAX) return false;
  }
  groups_out[0] = (uint16_t)(bytes[0] << 8 | bytes[1]);
  groups_out[1] = (uint16_t)(bytes[2] << 8 | bytes[3]);
  return text == end;
}

/* Reads groups between colons, until the end or a double colon. Returns where it stopped; NULL when that is
 * nowhere sensible. */
static const char *read_groups(const char *text, const char *end, uint16_t groups_out[GROUPS],
                               int *count_out) {
  int count = 0;
  while (text < end && *text != ':') {
    const char *first = text;
    unsigned group = 0;
    while (text < end && text - first <= GROUP_DIGITS && hex_digit(*text) >= 0)
      group = group << 4 | (unsigned)hex_digit(*text++);
    if (text < end && *text == '.') {
      if (count > GROUPS - 2 || !read_ipv4_tail(first, end, groups_out + count)) return NULL;
      *count_out = count + 2;
      return end;
    }
    if (text == first || text - first > GROUP_DIGITS || count == GROUPS) return NULL;
    groups_out[count++] = (uint16_t)group;
    if (text == end || (end - text >= 2 && text[0] == ':' && text[1] == ':')) break;
    if (*text++ != ':' || text == end) return NULL;
  }
  *count_out = count;
  return text;
}

/* Reads an IPv6 address without brackets and zone. */
static bool read_ipv6(const char *text, const char *end, uint16_t groups_out[GROUPS]) {
  uint16_t tail[GROUPS];
  int head_count, tail_count = 0;
  const char *at = read_groups(text, end, groups_out, &head_count);
  if (at == NULL) return false;
  if (at == end) return head_count == GROUPS;
  if (end - at < 2 || at[0] != ':' || at[1] != ':' || read_groups(at + 2, end, tail, &tail_count) != end)
    return false;
  int zeros = GROUPS - head_count - tail_count;
  if (zeros < 1) return false;
  memset(groups_out + head_count, 0, (size_t)zeros * sizeof *groups_out);
  memcpy(groups_out + head_count + zeros, tail, (size_t)tail_count * sizeof *tail);
  return true;
}

/* An address taken apart. Points into the text it was made of. */
struct parts {
  const char *begin, *end; /* without brackets, and without the zone of an IPv6 address */
  const char *zone;        /* with its %; up to zone_end; NULL when there is none */
  const char *zone_end;
  bool is_bracketed;
  bool is_ipv6;
  uint16_t groups[GROUPS];
};

static struct parts take_apart(const char *address) {
  struct parts parts = {.begin = address, .end = address + strlen(address)};
  parts.is_bracketed = parts.end - parts.begin >= 2 && parts.begin[0] == '[' && parts.end[-1] == ']';
  if (parts.is_bracketed) {
    parts.begin++;
    parts.end--;
  }
  const char *zone = memchr(parts.begin, '%', (size_t)(parts.end - parts.begin));
  const char *end = zone == NULL ? parts.end : zone;
  bool zone_is_empty = zone != NULL && zone + 1 == parts.end;
  parts.is_ipv6 = !zone_is_empty && read_ipv6(parts.begin, end, parts.groups);
  if (!parts.is_ipv6 || zone == NULL) return parts;
  parts.zone = zone;
  parts.zone_end = parts.end;
  parts.end = zone;
  return parts;
}

/* Blanks, control characters, and what else would not stand in a line of the log as it is. */
static bool is_clean(const char *address) {
  char escaped[CSI_ISCSI_ADDRESS_BYTES * ESCAPED_FACTOR];
  (void)csi_text_escape(escaped, sizeof escaped, address, strlen(address));
  return strcmp(escaped, address) == 0 && strchr(address, ' ') == NULL;
}

const char *csi_iscsi_portal_read(const char *address, uint32_t port, struct csi_iscsi_portal *portal_out) {
  if (port > UINT16_MAX) return "the port is not below 65536";
  if (address[0] == '\0') return "the address is empty";
  if (strlen(address) >= sizeof portal_out->address) return "the address is too long";
  if (!is_clean(address)) return "the address has a blank or a control character in it";
  struct parts parts = take_apart(address);
  const char *end = parts.zone == NULL ? parts.end : parts.zone_end;
  size_t length = (size_t)(end - parts.begin);
  if (!parts.is_ipv6) {
    if (parts.is_bracketed) return "what stands in the brackets is not an IPv6 address";
    if (strchr(address, ':') != NULL)
      return "an address with a colon must be an IPv6 address; the port belongs in target_port";
    if (strpbrk(address, "[]/\\") != NULL) return "this is neither an IP address nor a host name";
  }
  memset(portal_out, 0, sizeof *portal_out);
  memcpy(portal_out->address, parts.begin, length);
  portal_out->port = port == 0 ? CSI_ISCSI_DEFAULT_PORT : (uint16_t)port;
  return NULL;
}

void csi_iscsi_portal_key(const struct csi_iscsi_portal *portal, char key_out[CSI_ISCSI_PORTAL_KEY_BYTES]) {
  struct parts parts = take_apart(portal->address);
  size_t length = 0, left = (size_t)(parts.end - parts.begin);
  if (parts.is_ipv6) {
    for (int i = 0; i < GROUPS; i++)
      length += (size_t)snprintf(key_out + length, CSI_ISCSI_PORTAL_KEY_BYTES - length, i == 0 ? "%x" : ":%x",
                                 (unsigned)parts.groups[i]);
    left = parts.zone == NULL ? 0 : (size_t)(parts.zone_end - parts.zone);
    parts.begin = parts.zone;
  } else if (left > 1 && parts.end[-1] == '.') {
    left--;
  }
  if (left > 0) memcpy(key_out + length, parts.begin, left);
  length += left;
  key_out[length] = '\0';
  csi_iscsi_to_lower(key_out);
  (void)snprintf(key_out + length, CSI_ISCSI_PORTAL_KEY_BYTES - length, ":%u", (unsigned)portal->port);
}

bool csi_iscsi_portal_is_equal(const struct csi_iscsi_portal *a, const struct csi_iscsi_portal *b) {
  char a_key[CSI_ISCSI_PORTAL_KEY_BYTES], b_key[CSI_ISCSI_PORTAL_KEY_BYTES];
  csi_iscsi_portal_key(a, a_key);
  csi_iscsi_portal_key(b, b_key);
  return strcmp(a_key, b_key) == 0;
}
