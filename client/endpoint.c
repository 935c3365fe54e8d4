/* SPDX-License-Identifier: Apache-2.0 */
#include "client/endpoint.h"

#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
static const char default_format[] = "\\\\.\\pipe\\csi-proxy-%s-%s";
#else
static const char default_format[] = "/run/csi-proxy/csi-proxy-%s-%s.sock";
#endif

/* The format comes from outside, so it never reaches a printf. */
static bool check_format(const char *format, struct csi_status *status) {
  int places = 0;
  for (const char *at = strchr(format, '%'); at != NULL; at = strchr(at + 2, '%')) {
    if (at[1] == 's') {
      places++;
    } else if (at[1] != '%') {
      return csi_fail(status, CSI_INVALID_ARGUMENT, "endpoint format %s: only %%s and %%%% may follow a %%",
                      format);
    }
  }
  if (places != 2) {
    return csi_fail(status, CSI_INVALID_ARGUMENT,
                    "endpoint format %s: it must hold %%s twice, for group and version", format);
  }
  return true;
}

bool csi_endpoint_name(const char *format, const char *group, const char *version, char **name_out,
                       struct csi_status *status) {
  if (format == NULL) format = default_format;
  if (!check_format(format, status)) return false;

  char *name = malloc(strlen(format) + strlen(group) + strlen(version) + 1);
  if (name == NULL) return csi_fail_out_of_memory(status);

  const char *insert = group;
  char *end = name;
  for (const char *at = format; *at != '\0'; at++) {
    if (*at != '%') {
      *end++ = *at;
    } else if (*++at == '%') {
      *end++ = '%';
    } else {
      size_t length = strlen(insert);
      memcpy(end, insert, length);
      end += length;
      insert = version;
    }
  }
  *end = '\0';
  *name_out = name;
  return true;
}
