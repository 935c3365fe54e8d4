/* SPDX-License-Identifier: Apache-2.0
 *
 * What the examples print and read alike.
 */
#ifndef CSI_EXAMPLES_SHOW_H
#define CSI_EXAMPLES_SHOW_H

#include <csi-proxy/client.h>
#include <stdbool.h>

enum {
  CALL_TIMEOUT_MS = 10000,
  LONG_CALL_TIMEOUT_MS = 120000, /* for what may wait for devices, such as formatting */
};

long long now_us(void);

/* One line: what was done to what, what came of it, and how long that took. */
void show_step(const char *step, const char *object, const char *result, long long started_us);

/* Everything the service tells about a failure. */
void show_error(const struct csi_error *error);

/* show_step() with the result or with the error. Returns whether the call succeeded. */
bool show_outcome(const char *step, const char *object, const char *result, long long started_us,
                  enum csi_code code, const struct csi_error *error);

/* Reads a secret: the first line of the standard input, so that it stands in no command line. False when
 * there is none or it does not fit. Wipe it with forget_secret(). */
bool read_secret(char *secret_out, size_t secret_bytes);
void forget_secret(char *secret, size_t secret_bytes);

/* Connects to the best version of a group, or says why not and returns NULL. */
struct csi_client *connect_or_explain(const char *group, const struct csi_client_options *options);

/* Tries every version by itself. A driver has no need to: csi_client_connect() finds the best one. */
void show_versions(const char *group, const char *const *versions, const struct csi_client_options *options);

#endif
