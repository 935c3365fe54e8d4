/* SPDX-License-Identifier: Apache-2.0
 *
 * `disk add`, `disk remove` and so on.
 */
#include <string.h>

#include "command.h"
#include "disk.h"
#include "park.h"
#include "volume.h"

enum { MIN_SIZE_BYTES = 1 << 20, ADDRESS_PARTS = 4 };
static const uint64_t max_size_bytes = 1ull << 50;

static const struct {
  const char *name;
  uint8_t type;
} buses[] = {
    {"scsi", BusTypeScsi},       {"ata", BusTypeAta},
    {"fibre", BusTypeFibre},     {"usb", BusTypeUsb},
    {"raid", BusTypeRAID},       {"iscsi", BusTypeiScsi},
    {"sas", BusTypeSas},         {"sata", BusTypeSata},
    {"virtual", BusTypeVirtual}, {"file-backed-virtual", BusTypeFileBackedVirtual},
    {"spaces", BusTypeSpaces},   {"nvme", 17},
};

static bool parse_bus(struct vdisk_command *command, uint8_t *type_out) {
  const char *value = vdisk_words_value(&command->words, "bus");
  if (value == NULL) return true;
  for (size_t i = 0; i < sizeof buses / sizeof buses[0]; i++) {
    if (strcmp(buses[i].name, value) != 0) continue;
    *type_out = buses[i].type;
    return true;
  }
  return vdisk_command_refuse(command, "no such bus", value);
}

static bool parse_identity(struct vdisk_command *command, const char *key, char *out) {
  char *value;
  if (!vdisk_command_text(command, key, &value)) return false;
  if (value == NULL) return true;
  if (strlen(value) >= VDISK_IDENTITY_LIMIT) return vdisk_command_refuse(command, "too long", key);
  memcpy(out, value, strlen(value) + 1);
  return true;
}

/* A serial of `none` means that the disk has none. */
static bool parse_serial(struct vdisk_command *command, struct vdisk_disk_settings *settings) {
  const char *value = vdisk_words_value(&command->words, "serial");
  if (value == NULL) return true;
  settings->has_serial = strcmp(value, "none") != 0;
  return !settings->has_serial || parse_identity(command, "serial", settings->serial);
}

static bool parse_page83(struct vdisk_command *command, struct vdisk_page83 *page) {
  char *value = vdisk_words_value(&command->words, "page83");
  return value == NULL || vdisk_page83_parse(page, value) ||
         vdisk_command_refuse(command, "bad page83", NULL);
}

/* PORT.PATH.TARGET.LUN */
static bool parse_address_parts(char *value, uint8_t parts[ADDRESS_PARTS]) {
  for (unsigned i = 0; i < ADDRESS_PARTS; i++) {
    char *end = strchr(value, '.');
    uint64_t part;
    if ((end == NULL) != (i + 1 == ADDRESS_PARTS)) return false;
    if (end != NULL) *end = 0;
    if (!vdisk_number_parse(value, &part) || part > UINT8_MAX) return false;
    parts[i] = (uint8_t)part;
    value = end + 1;
  }
  return true;
}

static bool parse_address(struct vdisk_command *command, struct vdisk_disk_settings *settings) {
  char *value = vdisk_words_value(&command->words, "address");
  if (value == NULL) return true;
  uint8_t parts[ADDRESS_PARTS] = {0};
  settings->has_address = strcmp(value, "none") != 0;
  if (settings->has_address && !parse_address_parts(value, parts))
    return vdisk_command_refuse(command, "bad address", NULL);
  settings->address = (struct vdisk_address){parts[0], parts[1], parts[2], parts[3]};
  return true;
}

static void parse_flag(struct vdisk_command *command, const char *key, bool *flag) {
  if (vdisk_words_has(&command->words, key)) *flag = vdisk_words_flag(&command->words, key);
}

/* What `add` and `set` have in common. */
static bool parse_settings(struct vdisk_command *command, struct vdisk_disk_settings *settings) {
  uint64_t volume_delay_ms = settings->volume_delay_ms;
  parse_flag(command, "offline", &settings->is_offline);
  parse_flag(command, "readonly", &settings->is_read_only);
  parse_flag(command, "removable", &settings->is_removable);
  parse_flag(command, "msr-on-create", &settings->makes_msr);
  parse_flag(command, "interface-broken", &settings->is_interface_broken);
  if (!parse_bus(command, &settings->bus_type) || !parse_identity(command, "vendor", settings->vendor) ||
      !parse_identity(command, "product", settings->product) || !parse_serial(command, settings) ||
      !parse_page83(command, &settings->page83) || !parse_address(command, settings) ||
      !vdisk_command_number(command, "volume-delay", 3600000, &volume_delay_ms))
    return false;
  settings->volume_delay_ms = (uint32_t)volume_delay_ms;
  return true;
}

static bool parse_medium(struct vdisk_command *command, struct vdisk_disk_settings *settings,
                         char **path_out) {
  uint64_t sector_bytes = 512;
  if (!vdisk_command_number(command, "size", max_size_bytes, &settings->size_bytes) ||
      !vdisk_command_number(command, "sector", 4096, &sector_bytes) ||
      !vdisk_command_text(command, "file", path_out))
    return false;
  if (*path_out == NULL) return vdisk_command_refuse(command, "missing", "file");
  if (sector_bytes != 512 && sector_bytes != 4096)
    return vdisk_command_refuse(command, "sector is 512 or 4096", NULL);
  settings->sector_bytes = (uint32_t)sector_bytes;
  if (settings->size_bytes < MIN_SIZE_BYTES || settings->size_bytes % sector_bytes != 0)
    return vdisk_command_refuse(command, "size is 1M or more, in whole sectors", NULL);
  return true;
}

static bool parse_number(struct vdisk_command *command, uint32_t *number_out) {
  uint64_t number = 0;
  if (!vdisk_command_number(command, "number", VDISK_NUMBER_MAX, &number)) return false;
  if (number == 0) return vdisk_command_refuse(command, "number is 1 to 9999", NULL);
  *number_out = (uint32_t)number;
  return true;
}

static NTSTATUS add(struct vdisk_command *command) {
  struct vdisk_disk_settings settings = {
      .bus_type = BusTypeSas, .vendor = "VDISK", .product = "Virtual Disk", .has_address = true};
  uint32_t number = 0;
  char *path;
  if (!parse_number(command, &number)) return STATUS_INVALID_PARAMETER;
  settings.address.lun = (uint8_t)number;
  if (!parse_settings(command, &settings) || !parse_medium(command, &settings, &path))
    return STATUS_INVALID_PARAMETER;
  NTSTATUS status = vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  struct vdisk_disk *disk;
  status = vdisk_disk_add(number, &settings, path, &disk);
  if (!NT_SUCCESS(status)) return vdisk_command_fail(command, status, "cannot add the disk", path);
  return vdisk_park(command->call, &disk->object, VDISK_WAIT_STARTED, 0);
}

/* The disk that number=N names; NULL after vdisk_command_refuse(). */
static struct vdisk_disk *find(struct vdisk_command *command) {
  uint32_t number = 0;
  if (!parse_number(command, &number)) return NULL;
  struct vdisk_disk *disk = vdisk_disk_find(number);
  if (disk == NULL) vdisk_command_refuse(command, "no such disk", NULL);
  return disk;
}

static NTSTATUS remove_disk(struct vdisk_command *command) {
  struct vdisk_disk *disk = find(command);
  NTSTATUS status = disk == NULL ? STATUS_NO_SUCH_DEVICE : vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  status = vdisk_park(command->call, &disk->object, VDISK_WAIT_REMOVED, 0);
  vdisk_disk_pull(disk);
  return status;
}

static NTSTATUS grow(struct vdisk_command *command) {
  struct vdisk_disk *disk = find(command);
  if (disk == NULL) return STATUS_NO_SUCH_DEVICE;
  uint64_t size_bytes = 0;
  if (!vdisk_command_number(command, "size", max_size_bytes, &size_bytes)) return STATUS_INVALID_PARAMETER;
  if (size_bytes < disk->settings.size_bytes || size_bytes % disk->settings.sector_bytes != 0)
    return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "size is smaller, or not in whole sectors",
                              NULL);
  NTSTATUS status = vdisk_command_check_words(command);
  return NT_SUCCESS(status) ? vdisk_disk_grow(disk, size_bytes) : status;
}

static NTSTATUS set(struct vdisk_command *command) {
  struct vdisk_disk *disk = find(command);
  if (disk == NULL) return STATUS_NO_SUCH_DEVICE;
  struct vdisk_disk_settings settings = disk->settings;
  if (!parse_settings(command, &settings)) return STATUS_INVALID_PARAMETER;
  NTSTATUS status = vdisk_command_check_words(command);
  if (!NT_SUCCESS(status)) return status;
  disk->settings = settings;
  vdisk_disk_hide(disk, disk->object.is_hidden);
  vdisk_volumes_update(disk);
  return STATUS_SUCCESS;
}

static const char *style_name(enum vdisk_style style) {
  return style == VDISK_STYLE_GPT ? "gpt" : style == VDISK_STYLE_MBR ? "mbr" : "raw";
}

static void describe(struct vdisk_text *text, const struct vdisk_disk *disk) {
  vdisk_text_add(text, "number=");
  vdisk_text_add_number(text, disk->object.disk_number);
  vdisk_text_add_number_word(text, "size", disk->size_bytes);
  vdisk_text_add_number_word(text, "sector", disk->settings.sector_bytes);
  vdisk_text_add_word(text, "style", style_name(disk->table.style));
  vdisk_text_add_number_word(text, "offline", disk->settings.is_offline);
  vdisk_text_add_number_word(text, "readonly", disk->settings.is_read_only);
  vdisk_text_add_number_word(text, "partitions", disk->table.count);
  vdisk_text_add_word(text, "interface", "");
  vdisk_text_add_utf16(text, disk->interface_name.Buffer, disk->interface_name.Length / sizeof(WCHAR));
  vdisk_text_add(text, "\n");
}

static NTSTATUS list(struct vdisk_command *command) {
  for (struct vdisk_disk *disk = vdisk_disk_next(NULL); disk != NULL; disk = vdisk_disk_next(disk))
    describe(&command->reply, disk);
  return vdisk_command_check_words(command);
}

NTSTATUS vdisk_disk_command(struct vdisk_command *command, const char *verb) {
  if (strcmp(verb, "add") == 0) return add(command);
  if (strcmp(verb, "remove") == 0) return remove_disk(command);
  if (strcmp(verb, "grow") == 0) return grow(command);
  if (strcmp(verb, "set") == 0) return set(command);
  if (strcmp(verb, "list") == 0) return list(command);
  return vdisk_command_fail(command, STATUS_INVALID_PARAMETER, "no such command: disk", verb);
}
