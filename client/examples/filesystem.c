/* SPDX-License-Identifier: Apache-2.0
 *
 * filesystem [DIRECTORY]
 *
 * Shows which versions of the filesystem group this node serves, then makes a directory below
 * DIRECTORY, finds it, links to it and removes it again, as a CSI driver would. DIRECTORY has to be
 * one that the service works in; the default is kubelet's.
 *
 * In place of pipes, CSI_PROXY_ENDPOINT_FORMAT may name other endpoints (see csi_client_options).
 */
#include <csi-proxy/client.h>
#include <csi-proxy/filesystem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

enum {
  PATH_BYTES = 512,
};

static const struct csi_call_options in_time = {.timeout_ms = CALL_TIMEOUT_MS};

/* ---- The RPCs, each with its checks. A response is freed also when there is nothing in it. ---- */

static bool make_directory(struct csi_client *client, const char *path) {
  struct csi_filesystem_mkdir_request request = {.path = path};
  struct csi_filesystem_mkdir_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_filesystem_mkdir(client, &request, &in_time, &response, &error);
  csi_response_free(response);
  return show_outcome("Mkdir", path, "made", started_us, code, &error);
}

static bool exists(struct csi_client *client, const char *path, bool expected) {
  struct csi_filesystem_path_exists_request request = {.path = path};
  struct csi_filesystem_path_exists_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_filesystem_path_exists(client, &request, &in_time, &response, &error);
  bool found = code == CSI_OK && response->exists;
  csi_response_free(response);
  bool answered = show_outcome("PathExists", path, found ? "there" : "gone", started_us, code, &error);
  return answered && found == expected;
}

/* impossible_out: the service says that this node cannot make links at all (Wine). */
static bool make_link(struct csi_client *client, const char *source, const char *target,
                      bool *impossible_out) {
  struct csi_filesystem_create_symlink_request request = {.source_path = source, .target_path = target};
  struct csi_filesystem_create_symlink_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_filesystem_create_symlink(client, &request, &in_time, &response, &error);
  csi_response_free(response);
  *impossible_out = code != CSI_OK && error.precise_code == CSI_UNIMPLEMENTED;
  return show_outcome("CreateSymlink", target, "linked", started_us, code, &error);
}

static bool is_link(struct csi_client *client, const char *path) {
  struct csi_filesystem_is_symlink_request request = {.path = path};
  struct csi_filesystem_is_symlink_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_filesystem_is_symlink(client, &request, &in_time, &response, &error);
  bool link = code == CSI_OK && response->is_symlink;
  csi_response_free(response);
  return show_outcome("IsSymlink", path, link ? "a link" : "no link", started_us, code, &error) && link;
}

static bool remove_tree(struct csi_client *client, const char *path) {
  struct csi_filesystem_rmdir_request request = {.path = path, .force = true};
  struct csi_filesystem_rmdir_response *response;
  struct csi_error error;
  long long started_us = now_us();
  enum csi_code code = csi_filesystem_rmdir(client, &request, &in_time, &response, &error);
  csi_response_free(response);
  return show_outcome("Rmdir", path, "removed", started_us, code, &error);
}

/* ---- The demonstration. ---- */

static const char *const versions[] = {"v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1", NULL};

static bool demonstrate(struct csi_client *client, const char *base) {
  char separator = strchr(base, '/') != NULL && strchr(base, '\\') == NULL ? '/' : '\\';
  char directory[PATH_BYTES], volume[PATH_BYTES], link[PATH_BYTES];
  int length = snprintf(directory, sizeof directory, "%s%ccsi-proxy-example", base, separator);
  if (length < 0 || (size_t)length > sizeof directory - sizeof "/volume") {
    printf("the directory's name is too long\n");
    return false;
  }
  snprintf(volume, sizeof volume, "%.*s%cvolume", length, directory, separator);
  snprintf(link, sizeof link, "%.*s%clink", length, directory, separator);

  if (!make_directory(client, volume) || !exists(client, volume, true)) return false;
  bool impossible;
  bool linked = make_link(client, volume, link, &impossible) && is_link(client, link);
  bool removed = remove_tree(client, directory) && exists(client, directory, false);
  if (impossible) printf("\nThis node has no symbolic links; everything else went on without them.\n");
  return (linked || impossible) && removed;
}

int main(int argc, char **argv) {
  const char *base = argc > 1 ? argv[1] : "C:\\var\\lib\\kubelet";
  struct csi_client_options options = {.endpoint_format = getenv("CSI_PROXY_ENDPOINT_FORMAT")};
  show_versions("filesystem", versions, &options);

  struct csi_client *client = connect_or_explain("filesystem", &options);
  if (client == NULL) return EXIT_FAILURE;
  printf("\nA directory is made, found, linked and removed, through %s:\n", csi_client_version(client));
  bool ok = demonstrate(client, base);
  csi_client_close(client);
  printf("\n%s\n", ok ? "The demonstration went well." : "The demonstration FAILED.");
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
