/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/volume_details.h"

#include <string.h>

#include "volume/volume_id.h"

enum {
  UNRECOGNIZED_VOLUME = 1005, /* Win32: there is no file system */
  DRIVE_ROOT_BYTES = 3,       /* `C:\` */
};

struct question {
  const struct csi_volume_host *host;
  struct csi_ctx *ctx;
  struct csi_guid guid;
  struct csi_admin_volume_details *details;
  struct csi_texts errors;
};

static bool note(struct question *question, const char *what) {
  return csi_admin_note_failure(question->ctx, &question->errors, what);
}

static bool has_no_file_system(const struct csi_status *status) {
  return status->space == CSI_SPACE_WIN32 && status->number == UNRECOGNIZED_VOLUME;
}

static bool ask_file_system(struct question *question) {
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  struct csi_ctx *ctx = question->ctx;
  if (!question->host->get_file_system(question->host->self, ctx, &question->guid, name)) {
    if (!has_no_file_system(&ctx->status)) return note(question, "file system");
    csi_status_clear(&ctx->status);
    return true;
  }
  question->details->file_system = csi_arena_strdup(ctx->arena, name);
  return question->details->file_system != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool ask_space(struct question *question) {
  struct csi_volume_space space;
  if (question->details->file_system[0] == '\0') return true;
  if (!question->host->get_space(question->host->self, question->ctx, &question->guid, &space))
    return note(question, "size");
  question->details->total_bytes = space.total_bytes;
  question->details->free_bytes = space.free_bytes;
  return true;
}

/* Without the separator behind a folder, as people and drivers write paths. */
static bool trim(struct csi_ctx *ctx, const char **path) {
  size_t length = strlen(*path);
  if (length <= DRIVE_ROOT_BYTES || (*path)[length - 1] != '\\') return true;
  *path = csi_arena_strndup(ctx->arena, *path, length - 1);
  return *path != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool ask_mount_points(struct question *question) {
  const char **paths;
  size_t count;
  if (!question->host->list_mount_points(question->host->self, question->ctx, &question->guid, &paths,
                                         &count))
    return note(question, "mount points");
  for (size_t i = 0; i < count; i++)
    if (!trim(question->ctx, &paths[i])) return false;
  question->details->mount_points = paths;
  question->details->mount_points_count = count;
  return true;
}

bool csi_volume_describe(const struct csi_volume_host *host, struct csi_ctx *ctx, uint32_t disk_number,
                         const struct csi_admin_partition *partition,
                         struct csi_admin_volume_details *details_out) {
  static bool (*const questions[])(struct question *) = {ask_mount_points, ask_file_system, ask_space};
  struct question question = {.host = host, .ctx = ctx, .details = details_out};
  *details_out = (struct csi_admin_volume_details){
      .volume_id = partition->volume_id,
      .disk_number = disk_number,
      .partition_number = partition->number,
      .file_system = "",
      .total_bytes = partition->size_bytes,
  };
  if (!csi_volume_id_parse(partition->volume_id, &question.guid))
    return csi_fail(&ctx->status, CSI_INTERNAL, "\"%s\" is no volume id", partition->volume_id);
  for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
    if (!csi_ctx_alive(ctx)) {
      if (!note(&question, "the rest was not asked for")) return false;
      break;
    }
    if (!questions[i](&question)) return false;
  }
  details_out->errors = question.errors.items;
  details_out->errors_count = question.errors.count;
  return true;
}
