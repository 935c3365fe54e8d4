/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/listen.h"

#include <stdio.h>
#include <string.h>

enum {
  BACKLOG = 16,
  OWNER_BYTES = 400,
  OBJECT_BYTES = CSI_ADDRESS_HOST_BYTES + 16,
  NUMBER_BYTES = 64,
};

static void name_object(const struct csi_address *address, char object[OBJECT_BYTES]) {
  const char *format = strchr(address->host, ':') != NULL ? "[%s]:%u" : "%s:%u";
  snprintf(object, OBJECT_BYTES, format, address->host, address->port);
}

/* What is tried, and what was tried last. */
struct attempt {
  const struct addrinfo *where;
  const char *call;
};

/* Fails with what a person can do about it. */
static bool fail(const struct csi_address *address, const struct attempt *attempt,
                 struct csi_status *status) {
  char object[OBJECT_BYTES], owner[OWNER_BYTES];
  name_object(address, object);
  bool taken = csi_sockets_port_is_taken();
  csi_sockets_fail(status, attempt->call, object);
  if (!taken && strcmp(attempt->call, "bind") != 0) return false;
  if (!taken) return csi_advise(status, "; the host must be this machine's own name or address");
  if (csi_sockets_owner(attempt->where->ai_addr, owner, sizeof owner))
    return csi_advise(status, "; %s listens there: choose another port, or end it", owner);
  return csi_advise(status, "; another program has the port, or the system keeps it: choose another one");
}

static bool set_families(csi_socket opened, const struct addrinfo *where, bool both_families) {
  const int only_ipv6 = both_families ? 0 : 1;
  return where->ai_family != AF_INET6 ||
         setsockopt(opened, IPPROTO_IPV6, IPV6_V6ONLY, (const char *)&only_ipv6, sizeof only_ipv6) == 0;
}

/* False without a status when the call in attempt is to be explained. */
static bool open_on(const struct addrinfo *where, bool both_families, struct attempt *attempt,
                    csi_socket *socket_out) {
  *attempt = (struct attempt){.where = where, .call = "socket"};
  csi_socket opened = csi_sockets_new(where->ai_family);
  if (opened == CSI_NO_SOCKET) return false;
  attempt->call = "setsockopt";
  bool done = set_families(opened, where, both_families);
  if (done) {
    attempt->call = "bind";
    done = bind(opened, where->ai_addr, (socklen_t)where->ai_addrlen) == 0;
  }
  if (done) {
    attempt->call = "listen";
    done = listen(opened, BACKLOG) == 0;
  }
  if (done)
    *socket_out = opened;
  else
    csi_sockets_close(opened);
  return done;
}

static const struct addrinfo *first_of_family(const struct addrinfo *list, int family) {
  while (list != NULL && list->ai_family != family)
    list = list->ai_next;
  return list;
}

static bool open_any(const struct addrinfo *list, bool every_address, struct attempt *attempt,
                     csi_socket *socket_out) {
  const struct addrinfo *ipv4 = first_of_family(list, AF_INET);
  const struct addrinfo *ipv6 = first_of_family(list, AF_INET6);
  if (!every_address) return open_on(ipv4 != NULL ? ipv4 : list, false, attempt, socket_out);
  if (ipv6 != NULL && open_on(ipv6, true, attempt, socket_out)) return true;
  /* A machine without IPv6. A port that is taken must stay an error. */
  return (ipv6 == NULL || !csi_sockets_port_is_taken()) && ipv4 != NULL &&
         open_on(ipv4, false, attempt, socket_out);
}

/* "0.0.0.0", "::" in any spelling. */
static bool is_unspecified(const char *host) {
  static const struct in6_addr any6 = IN6ADDR_ANY_INIT;
  struct in_addr ipv4;
  struct in6_addr ipv6;
  if (inet_pton(AF_INET, host, &ipv4) == 1) return ipv4.s_addr == htonl(INADDR_ANY);
  return inet_pton(AF_INET6, host, &ipv6) == 1 && memcmp(&ipv6, &any6, sizeof any6) == 0;
}

static bool tell_where(csi_socket opened, char text_out[CSI_LISTEN_TEXT_BYTES], struct csi_status *status) {
  struct sockaddr_storage bound;
  socklen_t bound_bytes = sizeof bound;
  char host[NUMBER_BYTES], port[8];
  if (getsockname(opened, (struct sockaddr *)&bound, &bound_bytes) != 0)
    return csi_sockets_fail(status, "getsockname", "the socket for metrics");
  if (getnameinfo((struct sockaddr *)&bound, bound_bytes, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return csi_fail(status, CSI_INTERNAL, "getnameinfo does not know the socket's own address");
  snprintf(text_out, CSI_LISTEN_TEXT_BYTES, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
  return true;
}

bool csi_listen(const struct csi_address *address, csi_socket *socket_out,
                char text_out[CSI_LISTEN_TEXT_BYTES], struct csi_status *status) {
  bool every_address = address->host[0] == '\0' || is_unspecified(address->host);
  const struct addrinfo hints = {
      .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = every_address ? AI_PASSIVE : 0};
  char port[8];
  snprintf(port, sizeof port, "%u", address->port);
  struct addrinfo *list = NULL;
  int error = getaddrinfo(every_address ? NULL : address->host, port, &hints, &list);
  if (error != 0)
    return csi_fail(status, CSI_UNAVAILABLE, "%s: no address of that name is found (getaddrinfo: %d)",
                    address->host, error);
  struct attempt attempt = {.where = list, .call = "socket"};
  csi_socket opened = CSI_NO_SOCKET;
  bool done = open_any(list, every_address, &attempt, &opened) || fail(address, &attempt, status);
  freeaddrinfo(list);
  if (done && !tell_where(opened, text_out, status)) {
    csi_sockets_close(opened);
    return false;
  }
  if (done) *socket_out = opened;
  return done;
}
