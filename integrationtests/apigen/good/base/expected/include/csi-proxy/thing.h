/* SPDX-License-Identifier: Apache-2.0
 *
 * The thing group of CSI Proxy, whatever version is spoken with the service.
 *
 * Things on a shelf.
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

#include "csi-proxy/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a thing is. */
enum csi_thing_kind {
  /* Nobody knows. */
  CSI_THING_KIND_UNKNOWN = 0,
  /* It rolls. */
  CSI_THING_KIND_ROUND = 1,
};

/* A shelf. */
struct csi_thing_shelf {
  /* Height above the floor, millimetres. */
  uint32_t height;
};

/* One entry of FindRequest.shelves. */
struct csi_thing_find_request_shelves_entry {
  uint32_t key;
  struct csi_thing_shelf value;
};

/* What to look for. */
struct csi_thing_find_request {
  /* Name of the thing. At most 64 bytes. */
  const char *name;
  /* Labels it must have. At most 32 bytes each. At most 8 elements. Not in v1alpha1. */
  size_t labels_count;
  const char *const *labels;
  /* Where to look. At most 8 elements. Sorted by key when it was received. Not in v1alpha1. */
  size_t shelves_count;
  const struct csi_thing_find_request_shelves_entry *shelves;
};

/* What was found. */
struct csi_thing_find_response {
  /* What it is. */
  enum csi_thing_kind kind;
};

/* Nothing to say. */
struct csi_thing_count_request {
  char none; /* the message has no fields; C and C++ must agree on a size */
};

/* How many. */
struct csi_thing_count_response {
  /* Number of things. */
  uint32_t count;
};

/* Finds a thing.
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
 * Blocks until the answer is there, usually for a moment.
 * Versions: v1; as Search in v1alpha1. */
CSI_PROXY_API enum csi_code csi_thing_find(
    struct csi_client *client, const struct csi_thing_find_request *request,
    const struct csi_call_options *options, struct csi_thing_find_response **response_out,
    struct csi_error *error_out);

/* Counts things.
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
 * Blocks until the answer is there; the service needs no more than microseconds.
 * Versions: v1, v1alpha1. */
CSI_PROXY_API enum csi_code csi_thing_count(
    struct csi_client *client, const struct csi_thing_count_request *request,
    const struct csi_call_options *options, struct csi_thing_count_response **response_out,
    struct csi_error *error_out);

#ifdef __cplusplus
}
#endif

#endif
