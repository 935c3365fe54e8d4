/* SPDX-License-Identifier: Apache-2.0 */
#include "disk/handlers.h"

#include <inttypes.h>
#include <stdlib.h>

#include "disk/arrival.h"
#include "disk/group.h"
#include "disk/list.h"
#include "disk/partition.h"
#include "disk/state.h"

struct csi_disk {
  const struct csi_disk_host *host;
  struct csi_keyed_locks *locks;
  bool guarded;
};

struct csi_disk *csi_disk_new(const struct csi_disk_options *options, const struct csi_disk_host *host,
                              struct csi_keyed_locks *locks, struct csi_status *status) {
  struct csi_disk *group = calloc(1, sizeof *group);
  if (group == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  *group = (struct csi_disk){.host = host, .locks = locks, .guarded = !options->change_system_disks};
  return group;
}

void csi_disk_free(struct csi_disk *group) {
  free(group);
}

static struct csi_target target_of(struct csi_ctx *ctx, const struct csi_disk *group, uint32_t number) {
  return (struct csi_target){.ctx = ctx, .host = group->host, .number = number, .guarded = group->guarded};
}

/* Runs change on the disk, open for writing, while nobody else changes it or a volume on it. */
static bool change_disk(struct csi_ctx *ctx, struct csi_disk *group, uint32_t number, const char *holder,
                        bool (*change)(struct csi_target *target)) {
  char key[CSI_LOCK_KEY_BYTES];
  csi_disk_lock_key(number, key);
  if (!csi_keyed_lock(group->locks, ctx, key, holder)) return false;
  bool changed;
  {
    CSI_SCOPED_TARGET target = target_of(ctx, group, number);
    changed = change(&target);
  }
  csi_keyed_unlock(group->locks, key);
  return changed;
}

bool csi_disk_serve_list_disk_locations(struct csi_ctx *ctx, struct csi_disk *group,
                                        const struct csi_disk_list_disk_locations_request *request,
                                        struct csi_disk_list_disk_locations_response *response) {
  (void)request;
  return csi_list_disk_locations(ctx, group->host, response);
}

static bool open_and_partition(struct csi_target *target) {
  if (csi_target_open(target, CSI_DISK_READ_WRITE)) return csi_partition_disk(target);
  return csi_explain(&target->ctx->status, "error checking initialized status of disk %" PRIu32 ": ",
                     target->number);
}

bool csi_disk_serve_partition_disk(struct csi_ctx *ctx, struct csi_disk *group,
                                   const struct csi_disk_partition_disk_request *request,
                                   struct csi_disk_partition_disk_response *response) {
  (void)response;
  return change_disk(ctx, group, request->disk_number, "PartitionDisk", open_and_partition);
}

bool csi_disk_serve_rescan(struct csi_ctx *ctx, struct csi_disk *group,
                           const struct csi_disk_rescan_request *request,
                           struct csi_disk_rescan_response *response) {
  (void)request;
  (void)response;
  static const char key[] = "rescan"; /* one at a time, so that impatient clients do not pile them up */
  bool locked = csi_keyed_lock(group->locks, ctx, key, "Rescan");
  bool scanned = locked && group->host->rescan(group->host->self, ctx);
  if (locked) csi_keyed_unlock(group->locks, key);
  return scanned || csi_explain(&ctx->status, "error updating host storage cache output. err: ");
}

bool csi_disk_serve_get_disk_number_by_name(struct csi_ctx *ctx, struct csi_disk *group,
                                            const struct csi_disk_get_disk_number_by_name_request *request,
                                            struct csi_disk_get_disk_number_by_name_response *response) {
  /* Disks without an identifier have the empty one. */
  if (request->disk_name == NULL || request->disk_name[0] == '\0')
    return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT,
                    "could not find disk with Page83 ID : the name of the disk is empty");
  return csi_find_disk_by_page83(ctx, group->host, request->disk_name, &response->disk_number);
}

bool csi_disk_serve_list_disk_ids(struct csi_ctx *ctx, struct csi_disk *group,
                                  const struct csi_disk_list_disk_ids_request *request,
                                  struct csi_disk_list_disk_ids_response *response) {
  (void)request;
  return csi_list_disk_ids(ctx, group->host, response);
}

bool csi_disk_serve_get_disk_stats(struct csi_ctx *ctx, struct csi_disk *group,
                                   const struct csi_disk_get_disk_stats_request *request,
                                   struct csi_disk_get_disk_stats_response *response) {
  CSI_SCOPED_TARGET target = target_of(ctx, group, request->disk_number);
  if (!csi_target_open(&target, CSI_DISK_QUERY)) return false;
  struct csi_disk_geometry geometry;
  if (!target.host->get_geometry(target.host->self, ctx, target.disk, &geometry))
    return csi_explain(&ctx->status, "failed to query size of disk %" PRIu32 ". ", target.number);
  if (geometry.size_bytes > INT64_MAX)
    return csi_fail(&ctx->status, CSI_DATA_LOSS, "failed to query size of disk %" PRIu32 ". it is impossible",
                    target.number);
  response->total_bytes = (int64_t)geometry.size_bytes;
  return true;
}

static bool explain_state(struct csi_target *target) {
  return csi_explain(&target->ctx->status,
                     "error setting disk %" PRIu32 " attach state. error: ", target->number);
}

/* Waits for the volumes also when the disk is online already: the call that brought it online may have
 * ended before they were there. */
static bool set_online(struct csi_target *target) {
  if (!csi_target_open(target, CSI_DISK_READ_WRITE)) return false;
  return (csi_disk_bring_online(target) && csi_await_arrival(target)) || explain_state(target);
}

static bool set_offline(struct csi_target *target) {
  if (!csi_target_open(target, CSI_DISK_READ_WRITE)) return false;
  return csi_disk_take_offline(target) || explain_state(target);
}

bool csi_disk_serve_set_disk_state(struct csi_ctx *ctx, struct csi_disk *group,
                                   const struct csi_disk_set_disk_state_request *request,
                                   struct csi_disk_set_disk_state_response *response) {
  (void)response;
  return change_disk(ctx, group, request->disk_number, "SetDiskState",
                     request->is_online ? set_online : set_offline);
}

bool csi_disk_serve_get_disk_state(struct csi_ctx *ctx, struct csi_disk *group,
                                   const struct csi_disk_get_disk_state_request *request,
                                   struct csi_disk_get_disk_state_response *response) {
  CSI_SCOPED_TARGET target = target_of(ctx, group, request->disk_number);
  if (!csi_target_open(&target, CSI_DISK_QUERY)) return false;
  uint64_t attributes;
  if (!csi_target_get_attributes(&target, &attributes))
    return csi_explain(&ctx->status, "error parsing disk %" PRIu32 " state. error: ", target.number);
  response->is_online = (attributes & CSI_DISK_ATTRIBUTE_OFFLINE) == 0;
  return true;
}
