/* SPDX-License-Identifier: Apache-2.0
 *
 * The verbs that only list: disks, volumes, mounts, smb, iscsi.
 */
#include <inttypes.h>
#include <stdio.h>

#include "client/ctl/output.h"
#include "client/ctl/people_verbs.h"
#include "client/ctl/units.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- disks ---- */

static enum csi_style write_volume_count(struct csi_ctl_view disk, struct csi_arena *arena,
                                         struct csi_text_buffer *cell) {
  size_t volumes = 0;
  for (size_t i = 0; i < csi_ctl_count(disk, "partitions"); i++)
    volumes += csi_ctl_text(csi_ctl_item(disk, "partitions", i), "volume_id", arena)[0] != '\0';
  csi_text_buffer_print(cell, "%zu", volumes);
  return CSI_STYLE_PLAIN;
}

/* In the order of what tells disks apart: on a narrow terminal the last ones are left out. */
static const struct csi_column disk_columns[] = {
    {"DISK", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "number", NULL},
    {"SIZE", CSI_ALIGN_RIGHT, CSI_COLUMN_BYTES, "size_bytes", NULL},
    {"STATE", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, csi_disk_state},
    {"LOCATION", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, csi_disk_location},
    {"SERIAL", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "serial_number", NULL},
    {"PAGE 83", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "page83", NULL},
    {"GUARDED BY", CSI_ALIGN_LEFT, CSI_COLUMN_TEXTS, "guarded_by", NULL},
    {"DEVICE", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, csi_disk_device},
    {"BUS", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "bus_type", NULL},
    {"STYLE", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "partition_style", NULL},
    {"VOLUMES", CSI_ALIGN_RIGHT, CSI_COLUMN_CUSTOM, NULL, write_volume_count},
};

static void disk_remarks(struct csi_ctl_view response, struct csi_arena *arena,
                         struct csi_text_buffer *buffer) {
  for (size_t i = 0; i < csi_ctl_count(response, "disks"); i++) {
    struct csi_ctl_view disk = csi_ctl_item(response, "disks", i);
    char subject[32];
    snprintf(subject, sizeof subject, "disk %" PRIu64 ": ", csi_ctl_u64(disk, "number"));
    csi_listing_errors(disk, "errors", subject, arena, buffer);
  }
}

static const struct csi_section disk_sections[] = {
    {.items = "disks",
     .columns = disk_columns,
     .column_count = COUNT(disk_columns),
     .none = "This node has no disks.",
     .unknown = "No disk could be listed."},
};
static const struct csi_listing disks = {"ListDisks", disk_sections, COUNT(disk_sections), disk_remarks};

int csi_disks_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  return csi_listing_run(ctl, &disks);
}

/* ---- volumes, mounts ---- */

static enum csi_style write_used(struct csi_ctl_view volume, struct csi_arena *arena,
                                 struct csi_text_buffer *cell) {
  char unit[CSI_UNIT_BYTES];
  uint64_t total_bytes = csi_ctl_u64(volume, "total_bytes"), free_bytes = csi_ctl_u64(volume, "free_bytes");
  if (csi_ctl_text(volume, "file_system", arena)[0] == '\0' || free_bytes > total_bytes)
    return CSI_STYLE_PLAIN;
  csi_text_buffer_put(cell, csi_units_bytes(unit, total_bytes - free_bytes));
  return CSI_STYLE_PLAIN;
}

static enum csi_style write_full(struct csi_ctl_view volume, struct csi_arena *arena,
                                 struct csi_text_buffer *cell) {
  enum { PERCENT = 100, NEARLY_FULL_PERCENT = 90 };
  uint64_t total_bytes = csi_ctl_u64(volume, "total_bytes"), free_bytes = csi_ctl_u64(volume, "free_bytes");
  if (csi_ctl_text(volume, "file_system", arena)[0] == '\0' || total_bytes == 0 || free_bytes > total_bytes)
    return CSI_STYLE_PLAIN;
  double percent = PERCENT * (double)(total_bytes - free_bytes) / (double)total_bytes;
  csi_text_buffer_print(cell, "%.0f%%", percent);
  return percent >= NEARLY_FULL_PERCENT ? CSI_STYLE_BAD : CSI_STYLE_PLAIN;
}

static const struct csi_column volume_columns[] = {
    {"VOLUME", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "volume_id", NULL},
    {"DISK", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "disk_number", NULL},
    {"PARTITION", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "partition_number", NULL},
    {"FILE SYSTEM", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "file_system", NULL},
    {"SIZE", CSI_ALIGN_RIGHT, CSI_COLUMN_BYTES, "total_bytes", NULL},
    {"USED", CSI_ALIGN_RIGHT, CSI_COLUMN_CUSTOM, NULL, write_used},
    {"USE%", CSI_ALIGN_RIGHT, CSI_COLUMN_CUSTOM, NULL, write_full},
    {"MOUNTED ON", CSI_ALIGN_LEFT, CSI_COLUMN_TEXTS, "mount_points", NULL},
};

static const struct csi_column mount_columns[] = {
    {"PATH", CSI_ALIGN_LEFT, CSI_COLUMN_EACH, NULL, NULL},
    {"DISK", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "disk_number", NULL},
    {"FILE SYSTEM", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "file_system", NULL},
    {"USED", CSI_ALIGN_RIGHT, CSI_COLUMN_CUSTOM, NULL, write_used},
    {"SIZE", CSI_ALIGN_RIGHT, CSI_COLUMN_BYTES, "total_bytes", NULL},
    {"USE%", CSI_ALIGN_RIGHT, CSI_COLUMN_CUSTOM, NULL, write_full},
    {"VOLUME", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "volume_id", NULL},
};

static void volume_remarks(struct csi_ctl_view response, struct csi_arena *arena,
                           struct csi_text_buffer *buffer) {
  for (size_t i = 0; i < csi_ctl_count(response, "volumes"); i++) {
    struct csi_ctl_view volume = csi_ctl_item(response, "volumes", i);
    char subject[64];
    snprintf(subject, sizeof subject, "disk %" PRIu64 " partition %" PRIu64 ": ",
             csi_ctl_u64(volume, "disk_number"), csi_ctl_u64(volume, "partition_number"));
    csi_listing_errors(volume, "errors", subject, arena, buffer);
  }
}

static const struct csi_section volume_sections[] = {
    {.items = "volumes",
     .columns = volume_columns,
     .column_count = COUNT(volume_columns),
     .none = "No disk of this node has a volume.",
     .unknown = "No volume could be listed."},
};
static const struct csi_listing volumes = {"ListVolumes", volume_sections, COUNT(volume_sections),
                                           volume_remarks};

static const struct csi_section mount_sections[] = {
    {.items = "volumes",
     .each = "mount_points",
     .columns = mount_columns,
     .column_count = COUNT(mount_columns),
     .none = "No volume is mounted.",
     .unknown = "No mounted volume could be listed."},
};
static const struct csi_listing mounts = {"ListVolumes", mount_sections, COUNT(mount_sections),
                                          volume_remarks};

int csi_volumes_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  return csi_listing_run(ctl, &volumes);
}

int csi_mounts_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  return csi_listing_run(ctl, &mounts);
}

/* ---- smb, iscsi ---- */

static const struct csi_column smb_columns[] = {
    {"SHARE", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "remote_path", NULL},
    {"STATE", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "state", NULL},
    {"LINKS", CSI_ALIGN_LEFT, CSI_COLUMN_TEXTS, "links", NULL},
};

static void smb_remarks(struct csi_ctl_view response, struct csi_arena *arena,
                        struct csi_text_buffer *buffer) {
  for (size_t i = 0; i < csi_ctl_count(response, "mappings"); i++) {
    struct csi_ctl_view mapping = csi_ctl_item(response, "mappings", i);
    const char *error = csi_ctl_text(mapping, "error", arena);
    if (error[0] == '\0') continue;
    csi_text_buffer_styled(buffer, CSI_STYLE_BAD, "! ");
    const char *line = csi_arena_printf(arena, "%s: %s", csi_ctl_text(mapping, "remote_path", arena), error);
    csi_text_buffer_wrap(buffer, line == NULL ? error : line, 2, csi_output_columns());
  }
  const char *scope = csi_ctl_text(response, "scope", arena);
  if (scope[0] == '\0') return;
  csi_text_buffer_put(buffer, "Listed: ");
  csi_text_buffer_wrap(buffer, scope, 8, csi_output_columns());
}

static const struct csi_section smb_sections[] = {
    {.items = "mappings",
     .columns = smb_columns,
     .column_count = COUNT(smb_columns),
     .none = "No share is known to be mapped."},
};
static const struct csi_listing smb = {"ListSmbMappings", smb_sections, COUNT(smb_sections), smb_remarks};

static enum csi_style write_connected(struct csi_ctl_view session, struct csi_arena *arena,
                                      struct csi_text_buffer *cell) {
  (void)arena;
  bool connected = csi_ctl_bool(session, "connected");
  csi_text_buffer_put(cell, connected ? "connected" : "reconnecting");
  return connected ? CSI_STYLE_GOOD : CSI_STYLE_BAD;
}

static enum csi_style write_disks(struct csi_ctl_view session, struct csi_arena *arena,
                                  struct csi_text_buffer *cell) {
  (void)arena;
  for (size_t i = 0; i < csi_ctl_count(session, "disk_numbers"); i++)
    csi_text_buffer_print(cell, "%s%" PRIu64, i > 0 ? ", " : "",
                          csi_ctl_u64_item(session, "disk_numbers", i));
  return CSI_STYLE_PLAIN;
}

static const struct csi_column portal_columns[] = {
    {"ADDRESS", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "address", NULL},
    {"PORT", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "port", NULL},
    {"TARGETS", CSI_ALIGN_LEFT, CSI_COLUMN_TEXTS, "targets", NULL},
};

static const struct csi_column session_columns[] = {
    {"SESSION", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "session_id", NULL},
    {"STATE", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, write_connected},
    {"TARGET", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "target", NULL},
    {"DISKS", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, write_disks},
};

static const struct csi_section iscsi_sections[] = {
    {.title = "Portals",
     .items = "portals",
     .columns = portal_columns,
     .column_count = COUNT(portal_columns),
     .none = "  none",
     .unknown = "  none could be listed"},
    {.title = "Sessions",
     .items = "sessions",
     .columns = session_columns,
     .column_count = COUNT(session_columns),
     .none = "  none",
     .unknown = "  none could be listed"},
};

static const struct csi_listing iscsi = {"ListIscsiSessions", iscsi_sections, COUNT(iscsi_sections), NULL};

int csi_smb_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  return csi_listing_run(ctl, &smb);
}

int csi_iscsi_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  return csi_listing_run(ctl, &iscsi);
}
