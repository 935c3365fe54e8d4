/* SPDX-License-Identifier: Apache-2.0
 *
 * smb                         shows the versions of the SMB group that this node serves
 * smb map SHARE LINK [USER]   maps a share for the whole node and makes a link to it; with a USER, the
 * password is read from the standard input smb unmap SHARE LINK        removes the link, and ends the mapping
 * for everybody
 *
 * In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see csi_client_options).
 */
#include <csi-proxy/client.h>
#include <csi-proxy/filesystem.h>
#include <csi-proxy/smb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum {
  PASSWORD_BYTES = 1025,
};

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};
static const struct csi_call_options in_long_time = {.timeout_ms = LONG_CALL_TIMEOUT_MS};

/* Mapping a share that is mapped is no error, nor is making a link that is there: a driver may simply repeat
 * this after a failure, and after a change of the password. */
static bool map_with(struct csi_client *client, const char *share, const char *link, const char *user,
                     const char *password) {
  struct csi_smb_new_smb_global_mapping_request request = {
      .remote_path = share, .local_path = link, .username = user, .password = password};
  struct csi_smb_new_smb_global_mapping_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_smb_new_smb_global_mapping(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("NewMapping", share, "mapped", started_us, code, &error);
}

static bool map(struct csi_client *client, const char *share, const char *link, const char *user) {
  char password[PASSWORD_BYTES] = "";
  bool ok = (user == NULL || read_secret(password, sizeof password)) &&
            map_with(client, share, link, user == NULL ? "" : user, password);
  forget_secret(password, sizeof password);
  return ok;
}

/* Links are directories' business, which is another group's. */
static bool remove_link(const struct csi_client_options *options, const char *link) {
  struct csi_filesystem_rmdir_request request = {.path = link, .force = true};
  struct csi_filesystem_rmdir_response *response = NULL;
  struct csi_client *client;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_client_connect("filesystem", NULL, options, &client, &error);
  if (code == CSI_OK) code = csi_filesystem_rmdir(client, &request, &in_time, &response, &error);
  csi_response_free(response);
  csi_client_close(client);
  return show_outcome("Rmdir", link, "removed", started_us, code, &error);
}

static bool unmap(struct csi_client *client, const char *share) {
  struct csi_smb_remove_smb_global_mapping_request request = {.remote_path = share};
  struct csi_smb_remove_smb_global_mapping_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_smb_remove_smb_global_mapping(client, &request, &in_long_time, &response, &error);
  csi_response_free(response);
  return show_outcome("RemoveMapping", share, "unmapped", started_us, code, &error);
}

int main(int argc, char **argv) {
  static const char *const versions[] = {"v1", "v1beta2", "v1beta1", "v1alpha1", NULL};
  bool maps = (argc == 4 || argc == 5) && strcmp(argv[1], "map") == 0;
  bool unmaps = argc == 4 && strcmp(argv[1], "unmap") == 0;
  if (argc != 1 && !maps && !unmaps) {
    fprintf(stderr, "usage: smb [map SHARE LINK [USER] | unmap SHARE LINK]\n");
    return 2;
  }
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  if (argc == 1) show_versions("smb", versions, &options);

  struct csi_client *client = connect_or_explain("smb", &options);
  if (client == NULL) return EXIT_FAILURE;
  bool ok = true;
  if (maps) ok = map(client, argv[2], argv[3], argc == 5 ? argv[4] : NULL);
  if (unmaps) ok = remove_link(&options, argv[3]) && unmap(client, argv[2]);
  csi_client_close(client);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
