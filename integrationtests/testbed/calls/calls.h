/* SPDX-License-Identifier: Apache-2.0
 *
 * RPCs by their names: words in, words out.
 */
#ifndef CSI_TESTBED_CALLS_H
#define CSI_TESTBED_CALLS_H

#include <csi-proxy/client.h>

enum {
  CALL_WORDS_MAX = 5,
};

/* One line of the script. */
struct call {
  struct csi_client *client; /* connected to the RPC's group */
  struct csi_call_options options;
  const char *word[CALL_WORDS_MAX]; /* arguments; "" for those that are not there */
  struct csi_error error;
};

struct call_rpc {
  const char *name;
  /* Makes the call and prints what came back, `key=value` a line. */
  enum csi_code (*run)(struct call *call);
};

/* Each ends with a name that is NULL. */
extern const struct call_rpc disk_rpcs[];
extern const struct call_rpc iscsi_rpcs[];
extern const struct call_rpc smb_rpcs[];
extern const struct call_rpc system_rpcs[];
extern const struct call_rpc volume_rpcs[];

/* Declares request, response and code, and makes the call; the rest are the request's fields. */
#define CALL(group, rpc, ...)                                                                                \
  struct csi_##group##_##rpc##_request request = {__VA_ARGS__};                                              \
  struct csi_##group##_##rpc##_response *response = NULL;                                                    \
  enum csi_code code = csi_##group##_##rpc(call->client, &request, &call->options, &response, &call->error)

/* Numbers of arguments; 0 for what is none. */
uint32_t call_number(const char *word);
int64_t call_size(const char *word);

#endif
