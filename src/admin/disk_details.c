/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/disk_details.h"

#include <inttypes.h>

#include "disk/visit.h"

bool csi_admin_note_failure(struct csi_ctx *ctx, struct csi_texts *errors, const char *what) {
  struct csi_status failure = ctx->status;
  csi_status_clear(&ctx->status);
  if (csi_disk_is_out_of_memory(&failure)) return csi_fail_out_of_memory(&ctx->status);
  return csi_texts_print(ctx, errors, "%s: %s", what, failure.text);
}

/* What a device says to a question it does not know: that is an answer. */
static bool is_without(const struct csi_status *status) {
  enum { INVALID_FUNCTION = 1, NOT_SUPPORTED = 50, INVALID_PARAMETER = 87 };
  return status->space == CSI_SPACE_WIN32 &&
         (status->number == INVALID_FUNCTION || status->number == NOT_SUPPORTED ||
          status->number == INVALID_PARAMETER);
}

static bool note(struct csi_target *disk, struct csi_disk_facts *facts, const char *what) {
  return csi_admin_note_failure(disk->ctx, &facts->errors, what);
}

/* The same for what some devices just do not have. */
static bool note_unless_without(struct csi_target *disk, struct csi_disk_facts *facts, const char *what) {
  if (!is_without(&disk->ctx->status)) return note(disk, facts, what);
  csi_status_clear(&disk->ctx->status);
  return true;
}

/* ---- One question each. ---- */

static bool ask_page83(struct csi_target *disk, struct csi_disk_facts *facts) {
  struct csi_bytes bytes;
  facts->page83.text = "";
  if (!disk->host->get_identifiers(disk->host->self, disk->ctx, disk->disk, &bytes))
    return note_unless_without(disk, facts, "page 83 identifier");
  if (!csi_page83_find(disk->ctx->arena, bytes.data, bytes.size_bytes, &facts->page83))
    return csi_fail_out_of_memory(&disk->ctx->status);
  facts->details.page83 = facts->page83.text;
  return true;
}

static bool ask_descriptor(struct csi_target *disk, struct csi_disk_facts *facts) {
  struct csi_arena *arena = disk->ctx->arena;
  struct csi_admin_disk_details *details = &facts->details;
  struct csi_bytes bytes;
  if (!disk->host->get_descriptor(disk->host->self, disk->ctx, disk->disk, &bytes))
    return note_unless_without(disk, facts, "vendor, product and serial number");
  details->vendor = csi_disk_vendor(arena, bytes.data, bytes.size_bytes);
  details->product = csi_disk_product(arena, bytes.data, bytes.size_bytes);
  details->serial_number = csi_serial_number(arena, bytes.data, bytes.size_bytes);
  facts->bus_type = csi_disk_bus_type(bytes.data, bytes.size_bytes);
  details->bus_type = csi_bus_type_name(facts->bus_type);
  return (details->vendor != NULL && details->product != NULL && details->serial_number != NULL) ||
         csi_fail_out_of_memory(&disk->ctx->status);
}

static bool ask_address(struct csi_target *disk, struct csi_disk_facts *facts) {
  struct csi_disk_address address;
  if (!disk->host->get_address(disk->host->self, disk->ctx, disk->disk, &address))
    return note_unless_without(disk, facts, "location");
  struct csi_admin_disk_details *details = &facts->details;
  details->has_location = true;
  details->adapter = address.port;
  details->bus = address.path;
  details->target = address.target;
  details->lun = address.lun;
  return true;
}

static bool ask_geometry(struct csi_target *disk, struct csi_disk_facts *facts) {
  facts->has_geometry = disk->host->get_geometry(disk->host->self, disk->ctx, disk->disk, &facts->geometry);
  if (!facts->has_geometry) return note(disk, facts, "size");
  facts->details.size_bytes = facts->geometry.size_bytes;
  facts->details.sector_bytes = facts->geometry.sector_bytes;
  return true;
}

static bool ask_attributes(struct csi_target *disk, struct csi_disk_facts *facts) {
  uint64_t attributes;
  facts->has_attributes = csi_target_get_attributes(disk, &attributes);
  if (!facts->has_attributes) return note(disk, facts, "online and read-only");
  facts->details.online = (attributes & CSI_DISK_ATTRIBUTE_OFFLINE) == 0;
  facts->details.read_only = (attributes & CSI_DISK_ATTRIBUTE_READ_ONLY) != 0;
  return true;
}

/* ---- Partitions. ---- */

static const char *type_name(struct csi_arena *arena, const struct csi_layout *layout,
                             const struct csi_partition *partition) {
  if (layout->style == CSI_PARTITION_STYLE_MBR) return csi_arena_printf(arena, "0x%02X", partition->mbr_type);
  if (csi_guid_equal(&partition->type, &csi_partition_type_basic_data)) return "basic data";
  if (csi_guid_equal(&partition->type, &csi_partition_type_efi_system)) return "EFI system";
  if (csi_guid_equal(&partition->type, &csi_partition_type_microsoft_reserved)) return "Microsoft reserved";
  char text[CSI_GUID_TEXT_BYTES];
  csi_guid_format(&partition->type, text);
  return csi_arena_strdup(arena, text);
}

/* "" for a partition without a volume. */
static bool find_volume(struct csi_target *disk, struct csi_disk_facts *facts, uint32_t number,
                        const char **id_out) {
  *id_out = "";
  char *id = csi_arena_alloc(disk->ctx->arena, CSI_VOLUME_ID_BYTES);
  if (id == NULL) return csi_fail_out_of_memory(&disk->ctx->status);
  if (disk->host->find_volume(disk->host->self, disk->ctx, disk->number, number, id)) {
    *id_out = id;
    return true;
  }
  if (disk->ctx->status.code != CSI_NOT_FOUND) return note(disk, facts, "volume of a partition");
  csi_status_clear(&disk->ctx->status);
  return true;
}

static bool add_partition(struct csi_target *disk, struct csi_disk_facts *facts,
                          struct csi_admin_partition *partitions, const struct csi_partition *partition) {
  struct csi_admin_partition *added = &partitions[facts->details.partitions_count++];
  *added = (struct csi_admin_partition){
      .number = partition->number,
      .offset_bytes = partition->offset_bytes,
      .size_bytes = partition->length_bytes,
      .type = type_name(disk->ctx->arena, &facts->layout, partition),
      .volume_id = "",
  };
  if (added->type == NULL) return csi_fail_out_of_memory(&disk->ctx->status);
  return !csi_ctx_alive(disk->ctx) || find_volume(disk, facts, partition->number, &added->volume_id);
}

bool csi_disk_describe_partitions(struct csi_target *disk, struct csi_disk_facts *facts) {
  static const char *const styles[] = {[CSI_PARTITION_STYLE_MBR] = "MBR",
                                       [CSI_PARTITION_STYLE_GPT] = "GPT",
                                       [CSI_PARTITION_STYLE_RAW] = "RAW"};
  facts->has_layout = csi_target_get_layout(disk, &facts->layout);
  if (!facts->has_layout) return note(disk, facts, "partition table");
  const struct csi_layout *layout = &facts->layout;
  facts->details.partition_style = styles[layout->style];
  struct csi_admin_partition *partitions =
      csi_arena_alloc_array(disk->ctx->arena, layout->partition_count + 1, sizeof *partitions);
  if (partitions == NULL) return csi_fail_out_of_memory(&disk->ctx->status);
  facts->details.partitions = partitions;
  for (size_t i = 0; i < layout->partition_count; i++)
    if (layout->partitions[i].number != 0 && !add_partition(disk, facts, partitions, &layout->partitions[i]))
      return false;
  return true;
}

/* ---- What Windows needs the disk for. ---- */

static bool has_efi_system_partition(const struct csi_layout *layout) {
  for (size_t i = 0; i < layout->partition_count; i++)
    if (csi_partition_is_efi_system(layout, &layout->partitions[i])) return true;
  return false;
}

static bool ask_roles(struct csi_target *disk, struct csi_disk_facts *facts) {
  static const struct {
    unsigned role;
    const char *name;
  } uses[] = {
      {CSI_DISK_HOLDS_WINDOWS, "Windows"},
      {CSI_DISK_HOLDS_BOOT_FILES, "boot files"},
      {CSI_DISK_HOLDS_PAGE_FILE, "page file"},
      {CSI_DISK_HOLDS_CRASH_DUMP, "crash dump"},
  };
  struct csi_texts names = {0};
  unsigned roles = 0;
  facts->has_roles = disk->host->get_roles(disk->host->self, disk->ctx, disk->number, &roles);
  if (!facts->has_roles && !note(disk, facts, "what Windows needs the disk for")) return false;
  for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
    if (facts->has_roles && (roles & uses[i].role) != 0 && !csi_texts_add(disk->ctx, &names, uses[i].name))
      return false;
  if (facts->has_layout && has_efi_system_partition(&facts->layout) &&
      !csi_texts_add(disk->ctx, &names, "EFI system partition"))
    return false;
  facts->details.guarded_by = names.items;
  facts->details.guarded_by_count = names.count;
  return true;
}

/* -------------------------------------------------------------------------------------------------- */

typedef bool question_function(struct csi_target *disk, struct csi_disk_facts *facts);

static bool ask(struct csi_target *disk, question_function *const *questions, size_t count,
                struct csi_disk_facts *facts_out) {
  *facts_out = (struct csi_disk_facts){.page83 = {.text = ""}};
  facts_out->details = (struct csi_admin_disk_details){.number = disk->number,
                                                       .bus_type = "",
                                                       .vendor = "",
                                                       .product = "",
                                                       .serial_number = "",
                                                       .page83 = "",
                                                       .partition_style = ""};
  for (size_t i = 0; i < count; i++) {
    if (!csi_ctx_alive(disk->ctx)) {
      if (!csi_admin_note_failure(disk->ctx, &facts_out->errors, "the rest was not asked for")) return false;
      break;
    }
    if (!questions[i](disk, facts_out)) return false;
  }
  facts_out->details.errors = facts_out->errors.items;
  facts_out->details.errors_count = facts_out->errors.count;
  return true;
}

bool csi_disk_describe(struct csi_target *disk, struct csi_disk_facts *facts_out) {
  static question_function *const questions[] = {ask_descriptor, ask_page83,     ask_address,
                                                 ask_geometry,   ask_attributes, csi_disk_describe_partitions,
                                                 ask_roles};
  return ask(disk, questions, sizeof questions / sizeof *questions, facts_out);
}

bool csi_disk_describe_identity(struct csi_target *disk, struct csi_disk_facts *facts_out) {
  static question_function *const questions[] = {ask_descriptor, ask_page83, ask_address};
  return ask(disk, questions, sizeof questions / sizeof *questions, facts_out);
}
