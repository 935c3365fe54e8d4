/* SPDX-License-Identifier: Apache-2.0
 *
 * The conversions that group.proto declares as written by hand: before v1beta3 the number of a disk is text
 * in a request, and 64 bits wide in a response.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "codegen/runtime/convert.h"
#include "volume/convert_v1alpha1.h"
#include "volume/convert_v1beta1.h"
#include "volume/convert_v1beta2.h"

enum {
  QUOTED_BYTES = 256, /* of a text in an error */
};

/* The text of the error is that of Go's strconv, as the original's clients know it. */
static bool fail_to_parse(struct csi_status *status, const char *text, const char *flaw) {
  char quoted[QUOTED_BYTES];
  return csi_fail(status, CSI_INVALID_ARGUMENT,
                  "Failed to parse diskId: err=strconv.ParseUint: parsing %s: %s",
                  csi_text_quote(quoted, sizeof quoted, text), flaw);
}

/* Reads a decimal number. Unlike the original's, one of more than 32 bits is refused, not cut. */
static bool parse_disk_number(struct csi_status *status, const char *text, uint32_t *number_out) {
  switch (csi_decimal_parse(text, number_out)) {
  case CSI_DECIMAL_OK:
    return true;
  case CSI_DECIMAL_TOO_LARGE:
    return fail_to_parse(status, text, "value out of range");
  default:
    return fail_to_parse(status, text, "invalid syntax");
  }
}

static bool list_request_from_text(struct csi_status *status, const char *disk_id,
                                   struct csi_volume_list_volumes_on_disk_request *to) {
  to->partition_number = 0;
  return parse_disk_number(status, disk_id, &to->disk_number);
}

static bool list_request_to_text(struct csi_arena *arena, struct csi_status *status,
                                 const struct csi_volume_list_volumes_on_disk_request *from,
                                 char **disk_id_out) {
  if (from->partition_number != 0)
    return csi_fail(status, CSI_INVALID_ARGUMENT,
                    "partition %" PRIu32 " cannot be asked for in versions before v1beta3",
                    from->partition_number);
  *disk_id_out = csi_arena_printf(arena, "%" PRIu32, from->disk_number);
  return *disk_id_out != NULL || csi_fail_out_of_memory(status);
}

static bool narrow_disk_number(struct csi_status *status, int64_t wide, uint32_t *number_out) {
  if (wide < 0 || wide > UINT32_MAX)
    return csi_fail(status, CSI_OUT_OF_RANGE, "%" PRId64 " is no number of a disk", wide);
  *number_out = (uint32_t)wide;
  return true;
}

bool csi_volume_v1alpha1_list_volumes_on_disk_request_from_wire(
    struct csi_arena *arena, struct csi_status *status, const V1alpha1__ListVolumesOnDiskRequest *from,
    struct csi_volume_list_volumes_on_disk_request *to) {
  (void)arena;
  return list_request_from_text(status, from->disk_id, to);
}

bool csi_volume_v1alpha1_list_volumes_on_disk_request_to_wire(
    struct csi_arena *arena, struct csi_status *status,
    const struct csi_volume_list_volumes_on_disk_request *from, V1alpha1__ListVolumesOnDiskRequest *to) {
  return list_request_to_text(arena, status, from, &to->disk_id);
}

bool csi_volume_v1beta1_list_volumes_on_disk_request_from_wire(
    struct csi_arena *arena, struct csi_status *status, const V1beta1__ListVolumesOnDiskRequest *from,
    struct csi_volume_list_volumes_on_disk_request *to) {
  (void)arena;
  return list_request_from_text(status, from->disk_id, to);
}

bool csi_volume_v1beta1_list_volumes_on_disk_request_to_wire(
    struct csi_arena *arena, struct csi_status *status,
    const struct csi_volume_list_volumes_on_disk_request *from, V1beta1__ListVolumesOnDiskRequest *to) {
  return list_request_to_text(arena, status, from, &to->disk_id);
}

bool csi_volume_v1beta2_list_volumes_on_disk_request_from_wire(
    struct csi_arena *arena, struct csi_status *status, const V1beta2__ListVolumesOnDiskRequest *from,
    struct csi_volume_list_volumes_on_disk_request *to) {
  (void)arena;
  return list_request_from_text(status, from->disk_id, to);
}

bool csi_volume_v1beta2_list_volumes_on_disk_request_to_wire(
    struct csi_arena *arena, struct csi_status *status,
    const struct csi_volume_list_volumes_on_disk_request *from, V1beta2__ListVolumesOnDiskRequest *to) {
  return list_request_to_text(arena, status, from, &to->disk_id);
}

bool csi_volume_v1beta1_volume_disk_number_response_from_wire(
    struct csi_arena *arena, struct csi_status *status, const V1beta1__VolumeDiskNumberResponse *from,
    struct csi_volume_get_disk_number_from_volume_id_response *to) {
  (void)arena;
  return narrow_disk_number(status, from->disknumber, &to->disk_number);
}

bool csi_volume_v1beta1_volume_disk_number_response_to_wire(
    struct csi_arena *arena, struct csi_status *status,
    const struct csi_volume_get_disk_number_from_volume_id_response *from,
    V1beta1__VolumeDiskNumberResponse *to) {
  (void)arena;
  (void)status;
  to->disknumber = from->disk_number;
  return true;
}

bool csi_volume_v1beta2_volume_disk_number_response_from_wire(
    struct csi_arena *arena, struct csi_status *status, const V1beta2__VolumeDiskNumberResponse *from,
    struct csi_volume_get_disk_number_from_volume_id_response *to) {
  (void)arena;
  return narrow_disk_number(status, from->disknumber, &to->disk_number);
}

bool csi_volume_v1beta2_volume_disk_number_response_to_wire(
    struct csi_arena *arena, struct csi_status *status,
    const struct csi_volume_get_disk_number_from_volume_id_response *from,
    V1beta2__VolumeDiskNumberResponse *to) {
  (void)arena;
  (void)status;
  to->disknumber = from->disk_number;
  return true;
}
