/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "harness.h"

enum csi_code mkdir_at(struct run *run, const char *where) {
  struct csi_filesystem_mkdir_request request = {.path = where};
  struct csi_filesystem_mkdir_response *response;
  struct csi_call_options options = call_options(run);
  run->error = (struct csi_error){0};
  enum csi_code code = csi_filesystem_mkdir(run->client, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code rmdir_at(struct run *run, const char *where, bool force) {
  struct csi_filesystem_rmdir_request request = {.path = where, .force = force};
  struct csi_filesystem_rmdir_response *response;
  struct csi_call_options options = call_options(run);
  run->error = (struct csi_error){0};
  enum csi_code code = csi_filesystem_rmdir(run->client, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code rmdir_contents_at(struct run *run, const char *where) {
  struct csi_filesystem_rmdir_contents_request request = {.path = where};
  struct csi_filesystem_rmdir_contents_response *response;
  struct csi_call_options options = call_options(run);
  run->error = (struct csi_error){0};
  enum csi_code code = csi_filesystem_rmdir_contents(run->client, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code link_at(struct run *run, const char *source, const char *target) {
  struct csi_filesystem_create_symlink_request request = {.source_path = source, .target_path = target};
  struct csi_filesystem_create_symlink_response *response;
  struct csi_call_options options = call_options(run);
  run->error = (struct csi_error){0};
  enum csi_code code = csi_filesystem_create_symlink(run->client, &request, &options, &response, &run->error);
  csi_response_free(response);
  return code;
}

enum csi_code exists_at(struct run *run, const char *where, bool *exists_out) {
  struct csi_filesystem_path_exists_request request = {.path = where};
  struct csi_filesystem_path_exists_response *response;
  struct csi_call_options options = call_options(run);
  run->error = (struct csi_error){0};
  enum csi_code code = csi_filesystem_path_exists(run->client, &request, &options, &response, &run->error);
  *exists_out = code == CSI_OK && response->exists;
  csi_response_free(response);
  return code;
}

enum csi_code is_link_at(struct run *run, const char *where, bool *is_link_out) {
  struct csi_filesystem_is_symlink_request request = {.path = where};
  struct csi_filesystem_is_symlink_response *response;
  struct csi_call_options options = call_options(run);
  run->error = (struct csi_error){0};
  enum csi_code code = csi_filesystem_is_symlink(run->client, &request, &options, &response, &run->error);
  *is_link_out = code == CSI_OK && response->is_symlink;
  csi_response_free(response);
  return code;
}

void check_made(struct run *run, const char *where) {
  check(run, mkdir_at(run, where) == CSI_OK, "Mkdir %s: %s", where, run->error.text);
}

void check_exists(struct run *run, const char *where, bool expected) {
  bool exists;
  check(run, exists_at(run, where, &exists) == CSI_OK, "PathExists %s: %s", where, run->error.text);
  check(run, exists == expected, "PathExists %s says %s", where, exists ? "true" : "false");
}

void check_is_link(struct run *run, const char *where, bool expected) {
  bool is_link;
  check(run, is_link_at(run, where, &is_link) == CSI_OK, "IsSymlink %s: %s", where, run->error.text);
  check(run, is_link == expected, "IsSymlink %s says %s", where, is_link ? "true" : "false");
}

void make_file(struct run *run, const char *where) {
  FILE *file = fopen(where, "wb");
  if (!check(run, file != NULL, "this program cannot make the file %s", where)) return;
  check(run, fputs("content", file) >= 0 && fclose(file) == 0, "cannot write %s", where);
}
