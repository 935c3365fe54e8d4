/* SPDX-License-Identifier: Apache-2.0 */
#include "show.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

long long now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

void show_step(const char *step, const char *object, const char *result, long long started_us) {
  printf("  %-13s %-42s %-7s %6lld us\n", step, object, result, now_us() - started_us);
}

void show_error(const struct csi_error *error) {
  printf("      %s\n", error->text);
  printf("      code %s", csi_code_name(error->code));
  if (error->precise_code != error->code) printf(", more precisely %s", csi_code_name(error->precise_code));
  if (error->space != CSI_SPACE_NONE) {
    printf("; %s error %lu", csi_error_space_name(error->space), (unsigned long)error->number);
  }
  if (error->call[0] != '\0') printf(" in %s", error->call);
  printf("\n");
}

bool show_outcome(const char *step, const char *object, const char *result, long long started_us,
                  enum csi_code code, const struct csi_error *error) {
  show_step(step, object, code == CSI_OK ? result : "FAILED", started_us);
  if (code != CSI_OK) show_error(error);
  return code == CSI_OK;
}

bool read_secret(char *secret_out, size_t secret_bytes) {
  if (fgets(secret_out, (int)secret_bytes, stdin) == NULL) {
    printf("the secret is expected on the standard input\n");
    return false;
  }
  size_t length = strcspn(secret_out, "\r\n");
  bool fits = length + 1 < secret_bytes;
  secret_out[length] = '\0';
  if (!fits) printf("the secret is too long\n");
  return fits;
}

void forget_secret(char *secret, size_t secret_bytes) {
  volatile char *at = secret; /* so that the compiler does not leave it out */
  while (secret_bytes-- > 0)
    *at++ = 0;
}

struct csi_client *connect_or_explain(const char *group, const struct csi_client_options *options) {
  struct csi_client *client;
  struct csi_error error;
  if (csi_client_connect(group, NULL, options, &client, &error) == CSI_OK) return client;
  printf("\nCannot connect:\n");
  show_error(&error);
  return NULL;
}

void show_versions(const char *group, const char *const *versions, const struct csi_client_options *options) {
  printf("API group %s on this node:\n", group);
  for (; *versions != NULL; versions++) {
    const char *const only[] = {*versions, NULL};
    struct csi_client *client;
    struct csi_error error;
    long long started_us = now_us();
    enum csi_code code = csi_client_connect(group, only, options, &client, &error);
    show_step("connect", *versions, code == CSI_OK ? "up" : "DOWN", started_us);
    if (code != CSI_OK) show_error(&error);
    csi_client_close(client);
  }
}
