/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/reach.h"

#include <inttypes.h>
#include <stdio.h>

#include "disk/target.h"
#include "volume/volume_id.h"

bool csi_require_text(struct csi_ctx *ctx, const char *text, const char *message) {
  return text[0] != '\0' || csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "%s", message);
}

bool csi_volume_ref_parse(struct csi_ctx *ctx, const char *id, struct csi_volume_ref *ref_out) {
  ref_out->given = id;
  if (csi_volume_id_parse(id, &ref_out->guid)) return true;
  return csi_fail(&ctx->status, CSI_NOT_FOUND,
                  "failed to query volume %s: not found: a volume id looks like "
                  "\\\\?\\Volume{01234567-89ab-cdef-0123-456789abcdef}\\",
                  id);
}

bool csi_volume_ref_explain(struct csi_ctx *ctx, const struct csi_volume_ref *ref) {
  return csi_explain(&ctx->status, "failed to query volume %s: %s", ref->given,
                     ctx->status.code == CSI_NOT_FOUND ? "not found: " : "");
}

/* True when the volume opens, or fails to for another reason than that its name is unknown; a status then
 * tells which. */
static bool is_known(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_guid *guid) {
  const struct csi_volume_host *host = group->hosts.volumes;
  struct csi_open_volume *volume;
  if (host->open(host->self, ctx, guid, CSI_VOLUME_QUERY, &volume)) {
    host->close(host->self, volume);
    return true;
  }
  if (!csi_failed_with(ctx, CSI_WIN32_FILE_NOT_FOUND)) return true;
  csi_status_clear(&ctx->status);
  return false;
}

bool csi_volume_is_gone(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_guid *guid,
                        bool *gone_out) {
  enum { PAUSE_MS = 500 };
  bool known = is_known(group, ctx, guid);
  if (!known) known = !csi_pause(ctx, PAUSE_MS) || is_known(group, ctx, guid);
  *gone_out = !known;
  return csi_status_ok(&ctx->status);
}

bool csi_explain_querying(struct csi_ctx *ctx, const char *id) {
  return csi_explain(&ctx->status, "error querying volume (%s). error: ", id);
}

void csi_volume_handle_close(struct csi_volume_handle *handle) {
  if (handle->host != NULL) handle->host->close(handle->host->self, handle->volume);
  *handle = (struct csi_volume_handle){0};
}

bool csi_volume_handle_open(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref,
                            enum csi_volume_access access, struct csi_volume_handle *handle_out) {
  const struct csi_volume_host *host = group->hosts.volumes;
  struct csi_open_volume *volume;
  if (!host->open(host->self, ctx, &ref->guid, access, &volume)) return csi_volume_ref_explain(ctx, ref);
  *handle_out = (struct csi_volume_handle){.host = host, .volume = volume};
  return true;
}

bool csi_lock_disk(struct csi_volume *group, struct csi_ctx *ctx, uint32_t number, const char *holder,
                   struct csi_held_lock *lock_out) {
  csi_disk_lock_key(number, lock_out->key);
  return csi_held_lock_take(group->locks, ctx, holder, lock_out);
}

bool csi_lock_volume(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_guid *guid,
                     const char *holder, struct csi_held_lock *lock_out) {
  char text[CSI_GUID_TEXT_BYTES];
  csi_guid_format(guid, text);
  (void)snprintf(lock_out->key, sizeof lock_out->key, "volume {%s}", text);
  return csi_held_lock_take(group->locks, ctx, holder, lock_out);
}

bool csi_lock_directory(struct csi_volume *group, struct csi_ctx *ctx, void *directory, const char *holder,
                        struct csi_held_lock *lock_out) {
  const struct csi_filesystem_host *host = group->hosts.files;
  struct csi_identity identity;
  uint32_t error = host->get_identity(host->self, directory, &identity);
  if (error != CSI_WIN32_OK)
    return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, "NtQueryInformationFile",
                           "identity of the directory");
  int length =
      snprintf(lock_out->key, sizeof lock_out->key, "directory %016" PRIx64 "-", identity.volume_serial);
  for (size_t i = 0; i < sizeof identity.file_id; i++, length += 2)
    (void)snprintf(lock_out->key + length, sizeof lock_out->key - (size_t)length, "%02x",
                   identity.file_id[i]);
  return csi_held_lock_take(group->locks, ctx, holder, lock_out);
}

bool csi_failed_with(const struct csi_ctx *ctx, uint32_t error) {
  return ctx->status.space == CSI_SPACE_WIN32 && ctx->status.number == error;
}
