/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/address.h"

#include <string.h>

#include "base/text.h"

enum {
  PORT_MAX = 65535,
  SHOWN_BYTES = 300,
};

static bool refuse(const char *text, const char *why, struct csi_status *status) {
  char shown[SHOWN_BYTES];
  return csi_fail(status, CSI_INVALID_ARGUMENT,
                  "%s is not an address to listen on: %s; give host:port, such as localhost:8888, "
                  "0.0.0.0:8888 or [::1]:8888",
                  csi_text_quote(shown, sizeof shown, text), why);
}

/* Where the host stands in text, and what follows it, ":8888". */
struct parts {
  const char *host;
  size_t host_bytes;
  const char *rest;
};

static const char *split_brackets(const char *text, struct parts *parts) {
  const char *end = strchr(text, ']');
  if (end == NULL) return "the bracket is not closed";
  *parts = (struct parts){.host = text + 1, .host_bytes = (size_t)(end - text - 1), .rest = end + 1};
  if (parts->host_bytes == 0) return "there is nothing between the brackets";
  if (end[1] == '\0') return "it has no port";
  return end[1] == ':' ? NULL : "only a colon and the port may follow the bracket";
}

static const char *split_plain(const char *text, struct parts *parts) {
  const char *colon = strchr(text, ':');
  if (colon == NULL) return "it has no port";
  *parts = (struct parts){.host = text, .host_bytes = (size_t)(colon - text), .rest = colon};
  return strchr(colon + 1, ':') == NULL ? NULL : "it has too many colons; an IPv6 address stands in brackets";
}

static bool is_host_character(char character) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%";
  return character != '\0' && strchr(allowed, character) != NULL;
}

static const char *copy_host(const struct parts *parts, struct csi_address *address) {
  if (parts->host_bytes >= sizeof address->host) return "the host is too long";
  for (size_t i = 0; i < parts->host_bytes; i++)
    if (!is_host_character(parts->host[i])) return "the host has a character that no name and no number has";
  memcpy(address->host, parts->host, parts->host_bytes);
  return NULL;
}

static const char *read_port(const char *rest, struct csi_address *address) {
  uint32_t port = 0;
  if (csi_decimal_parse(rest + 1, &port) != CSI_DECIMAL_OK || port > PORT_MAX)
    return "the port is no number from 0 to 65535";
  address->port = (uint16_t)port;
  return NULL;
}

bool csi_address_parse(const char *text, struct csi_address *address_out, struct csi_status *status) {
  struct csi_address address = {0};
  struct parts parts = {0};
  const char *wrong = text[0] == '[' ? split_brackets(text, &parts) : split_plain(text, &parts);
  if (wrong == NULL) wrong = copy_host(&parts, &address);
  if (wrong == NULL) wrong = read_port(parts.rest, &address);
  if (wrong != NULL) return refuse(text, wrong, status);
  *address_out = address;
  return true;
}
