/* SPDX-License-Identifier: Apache-2.0 */
#include "volume/contents.h"

#include <string.h>

#include "base/log.h"
#include "volume/marker.h"
#include "volume/where.h"

/* The places that are looked at: all of a small volume, else its beginning and its end. */
struct places {
  size_t begin_bytes;
  uint64_t end_offset_bytes;
  size_t end_bytes;
};

static struct places places_of(uint64_t length_bytes) {
  length_bytes -= length_bytes % CSI_SECTORS_ALIGNMENT;
  struct places places = {.begin_bytes = CSI_CONTENTS_BYTES, .end_offset_bytes = length_bytes};
  if (length_bytes < CSI_CONTENTS_BYTES) places.begin_bytes = (size_t)length_bytes;
  uint64_t rest_bytes = length_bytes - places.begin_bytes;
  places.end_bytes = rest_bytes < CSI_CONTENTS_END_BYTES ? (size_t)rest_bytes : CSI_CONTENTS_END_BYTES;
  places.end_offset_bytes -= places.end_bytes;
  return places;
}

static bool read_place(struct csi_ctx *ctx, const struct csi_volume_handle *volume, uint64_t offset_bytes,
                       size_t size_bytes, uint8_t **bytes_out) {
  *bytes_out = csi_sectors_alloc(ctx, size_bytes);
  if (*bytes_out == NULL) return false;
  if (size_bytes == 0) return true;
  return volume->host->read(volume->host->self, ctx, volume->volume, offset_bytes, *bytes_out, size_bytes);
}

/* What the beginning of a volume says; a mark there does not count, and neither do nameless data behind it.
 */
static void recognise(const struct csi_volume_ref *ref, uint8_t *bytes, size_t size_bytes,
                      struct csi_inspection *inspection_out) {
  bool has_mark = csi_marker_is_of(&ref->guid, bytes, size_bytes);
  if (has_mark) memset(bytes, 0, CSI_MARKER_BYTES);
  struct csi_contents contents = csi_contents_recognise(bytes, size_bytes);
  inspection_out->is_marked = has_mark && contents.name == NULL;
  inspection_out->contents = inspection_out->is_marked ? (struct csi_contents){.is_empty = true} : contents;
}

/* Looks at the sectors of a volume that Windows sees no file system on. */
static bool look(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref,
                 struct csi_inspection *inspection_out) {
  struct csi_contents *contents_out = &inspection_out->contents;
  CSI_SCOPED_VOLUME volume = {0};
  struct csi_extent extent;
  if (!csi_volume_handle_open(group, ctx, ref, CSI_VOLUME_READ, &volume) ||
      !csi_volume_find_extent(ctx, &volume, &extent))
    return false;
  struct places places = places_of(extent.length_bytes);
  uint8_t *bytes;
  if (!read_place(ctx, &volume, 0, places.begin_bytes, &bytes)) return false;
  recognise(ref, bytes, places.begin_bytes, inspection_out);
  if (inspection_out->is_marked || !contents_out->is_empty) return true;
  if (!read_place(ctx, &volume, places.end_offset_bytes, places.end_bytes, &bytes)) return false;
  *contents_out = csi_contents_recognise_end(bytes, places.end_bytes);
  contents_out->offset_bytes += (size_t)places.end_offset_bytes;
  return true;
}

static bool refuse(struct csi_ctx *ctx, const struct csi_contents *contents) {
  const char *advice = "formatting " CSI_CONTENTS_ADVICE;
  if (contents->name == NULL)
    return csi_fail(
        &ctx->status, CSI_FAILED_PRECONDITION,
        "Windows sees no file system, but the volume is not empty: data of an unknown kind begin at "
        "byte %zu; %s",
        contents->offset_bytes, advice);
  return csi_fail(&ctx->status, CSI_FAILED_PRECONDITION,
                  "Windows sees no file system, but the volume is not empty: it looks like %s (signature at "
                  "byte %zu); %s",
                  contents->name, contents->offset_bytes, advice);
}

bool csi_contents_inspect(struct csi_volume *group, struct csi_ctx *ctx, const struct csi_volume_ref *ref,
                          struct csi_inspection *inspection_out) {
  const struct csi_volume_host *host = group->hosts.volumes;
  char name[CSI_FILE_SYSTEM_NAME_BYTES];
  *inspection_out = (struct csi_inspection){0};
  inspection_out->has_file_system = host->get_file_system(host->self, ctx, &ref->guid, name);
  if (inspection_out->has_file_system) return true;
  if (!csi_failed_with(ctx, CSI_WIN32_UNRECOGNIZED_VOLUME)) return false;
  csi_status_clear(&ctx->status);
  return look(group, ctx, ref, inspection_out);
}

bool csi_contents_find_file_system(struct csi_volume *group, struct csi_ctx *ctx,
                                   const struct csi_volume_ref *ref, bool *found_out) {
  struct csi_inspection inspection;
  if (!csi_contents_inspect(group, ctx, ref, &inspection)) return false;
  *found_out = inspection.has_file_system;
  if (inspection.is_marked)
    CSI_LOG(INFO, "volume %s: a format of it was begun and not finished; it counts as empty", ref->given);
  return *found_out || inspection.contents.is_empty || refuse(ctx, &inspection.contents);
}

/* UNVERIFIED ON WINDOWS: it lets nobody write to a part of a disk where a file system is mounted; that a
 * volume without one, or with RAW, does not count, as the documentation of WriteFile says. */
static bool write_place(struct csi_target *disk, const struct csi_extent *extent, uint64_t offset_bytes,
                        const uint8_t *bytes, size_t size_bytes) {
  return size_bytes == 0 || disk->host->write(disk->host->self, disk->ctx, disk->disk,
                                              extent->offset_bytes + offset_bytes, bytes, size_bytes);
}

bool csi_contents_mark(struct csi_target *disk, const struct csi_extent *extent,
                       const struct csi_guid *volume) {
  if (extent->length_bytes < CSI_MARKER_BYTES) return true;
  uint8_t *block = csi_sectors_alloc(disk->ctx, CSI_MARKER_BYTES);
  if (block == NULL) return false;
  csi_marker_make(volume, block);
  return write_place(disk, extent, 0, block, CSI_MARKER_BYTES);
}

bool csi_contents_clear(struct csi_target *disk, const struct csi_extent *extent,
                        const struct csi_guid *volume) {
  struct places places = places_of(extent->length_bytes);
  if (places.begin_bytes < CSI_MARKER_BYTES) return true;
  const uint8_t *zeros = csi_sectors_alloc(disk->ctx, CSI_CONTENTS_BYTES);
  if (zeros == NULL) return false;
  return csi_contents_mark(disk, extent, volume) &&
         write_place(disk, extent, CSI_MARKER_BYTES, zeros, places.begin_bytes - CSI_MARKER_BYTES) &&
         write_place(disk, extent, places.end_offset_bytes, zeros, places.end_bytes) &&
         write_place(disk, extent, 0, zeros, CSI_MARKER_BYTES);
}
