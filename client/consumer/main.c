/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of somebody else, built against the installed package only. It needs no service: that
 * nobody answers is what it expects.
 */
#include <csi-proxy/client.h>
#include <csi-proxy/filesystem.h>
#include <stdio.h>
#include <string.h>

static int check(int holds, const char *what) {
  printf("%s: %s\n", holds ? "ok" : "WRONG", what);
  return holds ? 0 : 1;
}

int main(void) {
#if defined(_WIN32)
  struct csi_client_options options = {.endpoint_format = "\\\\.\\pipe\\csi-proxy-package-test-%s-%s"};
#else
  struct csi_client_options options = {.endpoint_format = "/nonexistent/csi-proxy-package-test-%s-%s"};
#endif
  struct csi_client *client;
  struct csi_error error;
  struct csi_filesystem_path_exists_response *response = NULL;
  int wrong = 0;

  enum csi_code code = csi_client_connect("filesystem", NULL, &options, &client, &error);
  wrong += check(code == CSI_NOT_FOUND && client == NULL, error.text);
  code = csi_client_connect("no such group", NULL, &options, &client, &error);
  wrong += check(code == CSI_INVALID_ARGUMENT, error.text);
  wrong += check(strcmp(csi_code_name(CSI_NOT_FOUND), "NOT_FOUND") == 0, "csi_code_name");
  wrong += check(csi_filesystem_path_exists != NULL, "the stubs are there");
  csi_response_free(response);
  csi_client_close(client);
  return wrong == 0 ? 0 : 1;
}
