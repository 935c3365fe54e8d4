/* SPDX-License-Identifier: Apache-2.0 */
#include "storage_command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system_error.h"
#include "ctl/profile.h"
#include "driver/text.h"
#include "driver/words.h"
#include "storage_identity.h"
#include "storage_internal.h"

enum {
  DEFAULT_WAIT_MS = 10000,
  WAIT_MS = 2,
  MAX_NUMBER = 9999,
  MAX_DELAY_MS = 3600000,
  MIN_DISK_BYTES = 1 << 20,
  FAULT_COUNT = 1,
};

static const uint64_t max_disk_bytes = UINT64_C(1) << 50;

struct command {
  struct csi_fake_storage *storage;
  struct vdisk_words words;
  struct vdisk_text reply;
};

/* What is wrong takes the place of the reply. */
static bool fail(struct command *command, const char *format, ...) CSI_PRINTF(2, 3);

static bool fail(struct command *command, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  vdisk_text_init(&command->reply, command->reply.buffer, command->reply.capacity_bytes);
  vdisk_text_add(&command->reply, text);
  return false;
}

/* ---- Words. ---- */

/* A key that is not there leaves number_out alone. */
static bool read_number(struct command *command, const char *key, uint64_t limit, uint64_t *number_out) {
  const char *value = vdisk_words_value(&command->words, key);
  uint64_t number;
  if (value == NULL) return true;
  if (!vdisk_number_parse(value, &number) || number > limit) return fail(command, "bad number: %s", key);
  *number_out = number;
  return true;
}

static bool read_text(struct command *command, const char *key, const char **text_out) {
  char *value = vdisk_words_value(&command->words, key);
  if (value == NULL) return true;
  if (!vdisk_percent_decode(value)) return fail(command, "bad %%XX: %s", key);
  *text_out = value;
  return true;
}

static bool read_flag(struct command *command, const char *key, bool *flag_out) {
  if (vdisk_words_has(&command->words, key)) *flag_out = vdisk_words_flag(&command->words, key);
  return true;
}

/* Cuts what is before the next comma off; NULL when nothing is left. */
static char *cut(char **rest) {
  char *text = *rest;
  if (text == NULL) return NULL;
  char *comma = strchr(text, ',');
  *rest = comma == NULL ? NULL : comma + 1;
  if (comma != NULL) *comma = '\0';
  return text;
}

static bool check_words(struct command *command) {
  const char *unused = vdisk_words_unused(&command->words);
  return unused == NULL || fail(command, "not understood: %s", unused);
}

/* The disk that has this number now; NULL and the reply when there is none. The lock is held. */
static struct storage_disk *find_disk(struct command *command, uint64_t number) {
  struct storage_disk *disk =
      number > MAX_NUMBER ? NULL : storage_find_disk(&command->storage->model, (uint32_t)number);
  if (disk == NULL) fail(command, "no such disk");
  return disk;
}

/* The number of a disk that is there now; whoever takes the lock later looks again. */
static bool read_disk(struct command *command, const char *key, uint32_t *number_out) {
  uint64_t number = MAX_NUMBER + 1;
  if (!read_number(command, key, MAX_NUMBER, &number)) return false;
  STORAGE_VISIT(command->storage);
  if (find_disk(command, number) == NULL) return false;
  *number_out = (uint32_t)number;
  return true;
}

static bool to_guid(const char *text, struct csi_guid *guid_out) {
  size_t length = text == NULL ? 0 : strlen(text);
  return length == CSI_GUID_TEXT_BYTES + 1 && text[0] == '{' && text[length - 1] == '}' &&
         csi_guid_parse(text + 1, CSI_GUID_TEXT_BYTES - 1, guid_out);
}

static bool read_volume(struct command *command, const char *key, struct csi_guid *guid_out) {
  if (!to_guid(vdisk_words_value(&command->words, key), guid_out)) return fail(command, "bad guid: %s", key);
  STORAGE_VISIT(command->storage);
  return storage_find_volume(&command->storage->model, guid_out) != NULL || fail(command, "no such volume");
}

/* ---- disk ---- */

struct identity {
  uint8_t identifiers[STORAGE_IDENTITY_BYTES];
  uint8_t descriptor[STORAGE_IDENTITY_BYTES];
};

static struct csi_bytes bytes_of(const uint8_t *data, size_t size_bytes) {
  return (struct csi_bytes){.data = size_bytes == 0 ? NULL : data, .size_bytes = size_bytes};
}

static bool read_address(struct command *command, struct csi_fake_disk *disk) {
  const char *value = vdisk_words_value(&command->words, "address");
  if (value == NULL) return true;
  unsigned port, path, target, lun;
  int length = 0;
  disk->has_address = strcmp(value, "none") != 0;
  if (!disk->has_address) return true;
  if (sscanf(value, "%3u.%3u.%3u.%3u%n", &port, &path, &target, &lun, &length) != 4 ||
      value[length] != '\0' || port > 255 || path > 255 || target > 255 || lun > 255)
    return fail(command, "bad address");
  disk->address = (struct csi_disk_address){(uint8_t)port, (uint8_t)path, (uint8_t)target, (uint8_t)lun};
  return true;
}

/* The identity keys; those that are not there leave the disk's as it is. */
static bool read_identity(struct command *command, struct csi_fake_disk *disk, struct identity *identity) {
  const char *spec = vdisk_words_value(&command->words, "page83");
  const char *vendor = "VDISK", *product = "Virtual Disk", *serial = "none", *bus = "sas";
  uint8_t bus_type;
  bool describes = vdisk_words_has(&command->words, "serial") || vdisk_words_has(&command->words, "bus") ||
                   disk->descriptor.data == NULL;
  size_t size_bytes;
  if (!read_text(command, "vendor", &vendor) || !read_text(command, "product", &product) ||
      !read_text(command, "serial", &serial) || !read_text(command, "bus", &bus))
    return false;
  if (spec != NULL) {
    if (!storage_make_identifiers(spec, identity->identifiers, &size_bytes))
      return fail(command, "bad page83");
    disk->identifiers = bytes_of(identity->identifiers, size_bytes);
  }
  if (!storage_find_bus(bus, &bus_type)) return fail(command, "bad bus");
  if (!describes) return true;
  if (strcmp(serial, "none") == 0) serial = NULL;
  if (!storage_make_descriptor(vendor, product, serial, bus_type, identity->descriptor, &size_bytes))
    return fail(command, "too long: vendor, product or serial");
  disk->descriptor = bytes_of(identity->descriptor, size_bytes);
  return true;
}

static bool read_roles(struct command *command, struct csi_fake_disk *disk) {
  static const char *const names[] = {"windows", "boot", "page-file", "crash-dump"};
  char *value = vdisk_words_value(&command->words, "roles");
  if (value == NULL) return true;
  disk->roles = 0;
  for (char *rest = value; (value = cut(&rest)) != NULL;) {
    size_t i = 0;
    while (i < 4 && strcmp(names[i], value) != 0)
      i++;
    if (i == 4 && strcmp(value, "none") != 0) return fail(command, "no such role: %s", value);
    disk->roles |= i == 4 ? 0 : 1U << i;
  }
  return true;
}

/* What `add` and `set` have in common. */
static bool read_settings(struct command *command, struct csi_fake_disk *disk, struct identity *identity) {
  uint64_t delay_ms = disk->volume_delay_ms;
  bool removable;
  if (!read_flag(command, "offline", &disk->offline) || !read_flag(command, "readonly", &disk->read_only) ||
      !read_flag(command, "msr-on-create", &disk->msr_on_create) ||
      !read_flag(command, "interface-broken", &disk->interface_broken) ||
      !read_flag(command, "removable", &removable) || !read_address(command, disk) ||
      !read_identity(command, disk, identity) || !read_roles(command, disk) ||
      !read_number(command, "volume-delay", MAX_DELAY_MS, &delay_ms))
    return false;
  disk->volume_delay_ms = (uint32_t)delay_ms;
  return true;
}

static bool disk_add(struct command *command) {
  static const uint8_t no_identifiers[12] = {12, 0, 0, 0, 12};
  struct csi_fake_disk disk = {.has_address = true, .identifiers = bytes_of(no_identifiers, 12)};
  struct identity identity;
  uint64_t number = 0, sector_bytes = 512;
  if (!read_number(command, "number", MAX_NUMBER, &number) ||
      !read_number(command, "size", max_disk_bytes, &disk.size_bytes) ||
      !read_number(command, "sector", 4096, &sector_bytes) || !read_text(command, "file", &disk.medium))
    return false;
  disk.number = (uint32_t)number;
  disk.sector_bytes = (uint32_t)sector_bytes;
  disk.address.lun = (uint8_t)number;
  if (!read_settings(command, &disk, &identity) || !check_words(command)) return false;
  if (number == 0) return fail(command, "number is 1 to 9999");
  if (sector_bytes != 512 && sector_bytes != 4096) return fail(command, "sector is 512 or 4096");
  if (disk.size_bytes < MIN_DISK_BYTES || disk.size_bytes % sector_bytes != 0)
    return fail(command, "size is 1M or more, in whole sectors");
  STORAGE_VISIT(command->storage);
  if (storage_find_disk(&command->storage->model, disk.number) != NULL)
    return fail(command, "number is taken");
  if (storage_medium_is_in_use(&command->storage->model, disk.medium)) return fail(command, "file is in use");
  storage_add_disk(&command->storage->model, &disk);
  return true;
}

static bool disk_remove(struct command *command) {
  uint32_t number = 0;
  if (!read_disk(command, "number", &number) || !check_words(command)) return false;
  STORAGE_VISIT(command->storage);
  struct storage_disk *disk = find_disk(command, number);
  if (disk == NULL) return false;
  storage_unplug(disk);
  return true;
}

static bool disk_grow(struct command *command) {
  uint32_t number = 0;
  uint64_t size_bytes = 0;
  if (!read_disk(command, "number", &number) || !read_number(command, "size", max_disk_bytes, &size_bytes) ||
      !check_words(command))
    return false;
  STORAGE_VISIT(command->storage);
  struct storage_disk *disk = find_disk(command, number);
  if (disk == NULL) return false;
  if (size_bytes < disk->is.size_bytes) return fail(command, "size is smaller");
  disk->is.size_bytes = size_bytes;
  return true;
}

static bool disk_set(struct command *command) {
  uint32_t number = 0;
  struct identity identity;
  if (!read_disk(command, "number", &number)) return false;
  STORAGE_VISIT(command->storage);
  struct storage_disk *disk = find_disk(command, number);
  if (disk == NULL) return false;
  struct csi_fake_disk is = disk->is;
  if (!read_settings(command, &is, &identity) || !check_words(command)) return false;
  struct csi_bytes identifiers = is.identifiers, descriptor = is.descriptor;
  is.identifiers = disk->is.identifiers;
  is.descriptor = disk->is.descriptor;
  disk->is = is;
  storage_set_identity(disk, identifiers, descriptor);
  return true;
}

static bool disk_list(struct command *command) {
  static const char *const styles[] = {"mbr", "gpt", "raw"};
  STORAGE_VISIT(command->storage);
  struct vdisk_text *reply = &command->reply;
  for (struct storage_disk *disk = command->storage->model.disks; disk != NULL; disk = disk->next) {
    if (!disk->present) continue;
    vdisk_text_add(reply, "number=");
    vdisk_text_add_number(reply, disk->is.number);
    vdisk_text_add_number_word(reply, "size", disk->seen_bytes);
    vdisk_text_add_number_word(reply, "sector", storage_sector_bytes(disk));
    vdisk_text_add_word(reply, "style", styles[disk->style]);
    vdisk_text_add_number_word(reply, "offline", disk->is.offline);
    vdisk_text_add_number_word(reply, "readonly", disk->is.read_only);
    vdisk_text_add_number_word(reply, "partitions", disk->partition_count);
    vdisk_text_add(reply, "\n");
  }
  return check_words(command);
}

/* ---- volume, mount ---- */

static void add_guid(struct vdisk_text *text, const struct csi_guid *guid) {
  char digits[CSI_GUID_TEXT_BYTES];
  csi_guid_format(guid, digits);
  vdisk_text_add(text, "{");
  vdisk_text_add(text, digits);
  vdisk_text_add(text, "}");
}

static bool volume_list(struct command *command) {
  static const char *const file_systems[] = {[CSI_FAKE_RAW] = "raw",       [CSI_FAKE_NTFS] = "ntfs",
                                             [CSI_FAKE_REFS] = "refs",     [CSI_FAKE_BITLOCKER] = "bitlocker",
                                             [CSI_FAKE_FAT32] = "unknown", [CSI_FAKE_EXFAT] = "unknown",
                                             [CSI_FAKE_NOISE] = "unknown"};
  STORAGE_VISIT(command->storage);
  struct vdisk_text *reply = &command->reply;
  for (struct storage_volume *volume = command->storage->model.volumes; volume != NULL;
       volume = volume->next) {
    if (!storage_has_arrived(volume)) continue;
    const struct csi_partition *partition = storage_partition_of(volume);
    vdisk_text_add(reply, "guid=");
    add_guid(reply, &volume->guid);
    vdisk_text_add_number_word(reply, "disk", volume->disk->is.number);
    vdisk_text_add_number_word(reply, "partition", volume->partition_number);
    vdisk_text_add_number_word(reply, "offset", partition->offset_bytes);
    vdisk_text_add_number_word(reply, "length", partition->length_bytes);
    vdisk_text_add_word(reply, "fs", file_systems[storage_read_signature(volume->disk, partition)]);
    vdisk_text_add(reply, "\n");
  }
  return check_words(command);
}

static bool volume_set(struct command *command) {
  struct csi_guid guid;
  const char *label = "";
  uint64_t used_bytes = UINT64_MAX;
  if (!read_volume(command, "guid", &guid) || !read_number(command, "used", INT64_MAX, &used_bytes) ||
      !read_text(command, "label", &label) || !check_words(command))
    return false;
  if (used_bytes != UINT64_MAX) csi_fake_storage_set_used(command->storage, &guid, used_bytes);
  return true;
}

static bool volume_letter(struct command *command) {
  struct csi_guid guid;
  const char *letter = vdisk_words_value(&command->words, "letter");
  if (!read_volume(command, "guid", &guid) || !check_words(command)) return false;
  bool none = letter != NULL && strcmp(letter, "none") == 0;
  if (letter == NULL || (!none && (strlen(letter) != 1 || letter[0] < 'A' || letter[0] > 'Z')))
    return fail(command, "letter is A to Z, or none");
  csi_fake_storage_set_letter(command->storage, &guid, none ? '\0' : letter[0]);
  return true;
}

/* The folders that are mounted still. */
static bool mount_list(struct command *command) {
  STORAGE_VISIT(command->storage);
  struct vdisk_text *reply = &command->reply;
  struct csi_guid latest;
  for (struct storage_announced *mount = command->storage->announced; mount != NULL; mount = mount->next) {
    if (!csi_fake_is_reparse_point(command->storage->model.files, mount->path)) continue;
    storage_latest_mount(command->storage, mount->path, &latest);
    if (!csi_guid_equal(&latest, &mount->guid)) continue;
    vdisk_text_add(reply, mount->path);
    vdisk_text_add(reply, " -> ");
    add_guid(reply, &mount->guid);
    vdisk_text_add(reply, "\n");
  }
  return check_words(command);
}

/* ---- fault, counters ---- */

/* The literal of csi_fake_step_name() that the testbed's name for a call means; NULL = there is none. */
static const char *call_of(const char *name) {
  static const char *const own[][2] = {{"OPEN", "CreateFileW"},
                                       {"READ", "ReadFile"},
                                       {"WRITE", "WriteFile"},
                                       {"FLUSH", "FlushFileBuffers"},
                                       {"QUERY_VOLUME", "GetVolumeInformationW"},
                                       {"MOUNTMGR_QUERY_POINTS", "GetVolumeNameForVolumeMountPointW"},
                                       {"SCSI_RESCAN_BUS", "CM_Reenumerate_DevNode"}};
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (strcmp(own[i][0], name) == 0) name = own[i][1];
  for (int step = 0; step < CSI_FAKE_STEPS; step++) {
    const char *call = csi_fake_step_name((enum csi_fake_step)step);
    if (strcmp(call, name) == 0) return call;
    if (strncmp(call, "IOCTL_", 6) == 0 && strcmp(call + 6, name) == 0) return call;
  }
  return NULL;
}

static bool read_action(struct command *command, struct csi_fake_fault *fault) {
  uint64_t status = 0, delay_ms = 0;
  if (!read_number(command, "fail", UINT32_MAX, &status) ||
      !read_number(command, "delay", MAX_DELAY_MS, &delay_ms))
    return false;
  fault->delay_ms = (uint32_t)delay_ms;
  fault->unplug = vdisk_words_flag(&command->words, "remove");
  fault->ignore_cancel = vdisk_words_flag(&command->words, "hang-hard");
  fault->hang = vdisk_words_flag(&command->words, "hang") || fault->ignore_cancel;
  if (status != 0) fault->error = csi_win32_of_system_error(CSI_SPACE_NTSTATUS, (uint32_t)status);
  if (fault->error == CSI_NO_WIN32_ERROR) return fail(command, "no Win32 error for that status");
  return fault->error != 0 || fault->delay_ms != 0 || fault->hang || fault->unplug ||
         fail(command, "what shall happen?");
}

static bool fault_add(struct command *command) {
  struct csi_fake_fault fault = {.step = CSI_FAKE_ANY_STEP, .disk = CSI_FAKE_ANY_DISK};
  uint64_t nth = 1, count = FAULT_COUNT;
  const char *call = vdisk_words_value(&command->words, "call");
  if (!read_number(command, "nth", UINT32_MAX, &nth) || !read_number(command, "count", UINT32_MAX, &count) ||
      !read_action(command, &fault))
    return false;
  if (vdisk_words_has(&command->words, "disk")) {
    uint32_t number;
    if (!read_disk(command, "disk", &number)) return false;
    fault.disk = number;
  } else if (vdisk_words_has(&command->words, "volume")) {
    struct csi_guid guid;
    if (!read_volume(command, "volume", &guid)) return false;
    STORAGE_VISIT(command->storage);
    const struct storage_volume *volume = storage_find_volume(&command->storage->model, &guid);
    if (volume == NULL) return fail(command, "no such volume");
    fault.disk = volume->disk->is.number;
  }
  if (!check_words(command)) return false;
  fault.call = call == NULL ? NULL : call_of(call);
  if (fault.call == NULL) return fail(command, "no such call: %s", call == NULL ? "" : call);
  fault.nth = (unsigned)nth;
  fault.count = (unsigned)count;
  csi_fake_storage_add_fault(command->storage, &fault);
  return true;
}

static bool fault_list(struct command *command) {
  STORAGE_VISIT(command->storage);
  for (struct storage_fault *fault = command->storage->faults; fault != NULL; fault = fault->next) {
    vdisk_text_add(&command->reply, "call=");
    vdisk_text_add(&command->reply, fault->is.call == NULL ? "any" : fault->is.call);
    if (fault->is.disk != CSI_FAKE_ANY_DISK)
      vdisk_text_add_number_word(&command->reply, "disk", (uint64_t)fault->is.disk);
    vdisk_text_add_number_word(&command->reply, "nth", fault->is.nth);
    vdisk_text_add_number_word(&command->reply, "count", fault->is.count);
    vdisk_text_add(&command->reply, "\n");
  }
  return check_words(command);
}

static bool counters(struct command *command, const char *verb) {
  if (strcmp(verb, "reset") == 0) {
    csi_fake_storage_reset_counts(command->storage);
    return check_words(command);
  }
  STORAGE_VISIT(command->storage);
  struct vdisk_text *reply = &command->reply;
  for (struct storage_disk *disk = command->storage->model.disks; disk != NULL; disk = disk->next) {
    for (int step = 0; step < CSI_FAKE_STEPS; step++) {
      if (disk->steps[step] == 0) continue;
      vdisk_text_add(reply, "disk=");
      vdisk_text_add_number(reply, disk->is.number);
      vdisk_text_add_word(reply, "call", csi_fake_step_name((enum csi_fake_step)step));
      vdisk_text_add_number_word(reply, "count", disk->steps[step]);
      vdisk_text_add(reply, "\n");
    }
  }
  vdisk_text_add(reply, "open=");
  vdisk_text_add_number(reply, command->storage->open_handles);
  vdisk_text_add(reply, "\n");
  return check_words(command);
}

/* ---- table, signature ---- */

static bool to_mbr_type(const char *text, uint8_t *type_out) {
  int high = vdisk_hex_digit(text[0]), low = high < 0 ? -1 : vdisk_hex_digit(text[1]);
  if (low < 0 || text[2] != '\0' || (high == 0 && low == 0)) return false;
  *type_out = (uint8_t)(high << 4 | low);
  return true;
}

static bool to_gpt_type(const char *text, struct csi_guid *type_out) {
  static const struct csi_guid recovery = {
      0xde94bba4, 0x06d1, 0x4d40, {0xa1, 0x6a, 0xbf, 0xd5, 0x01, 0x79, 0xd6, 0xac}};
  if (strcmp(text, "basic") == 0) {
    *type_out = csi_partition_type_basic_data;
  } else if (strcmp(text, "msr") == 0) {
    *type_out = csi_partition_type_microsoft_reserved;
  } else if (strcmp(text, "efi") == 0) {
    *type_out = csi_partition_type_efi_system;
  } else if (strcmp(text, "recovery") == 0) {
    *type_out = recovery;
  } else {
    return to_guid(text, type_out);
  }
  return true;
}

/* Adds the partition TYPE,OFFSET,LENGTH to the layout; the text is changed. end_bytes: of `rest`. */
static bool add_partition(struct command *command, char *text, uint64_t end_bytes,
                          struct csi_layout *layout) {
  struct csi_partition *partition = &layout->partitions[layout->partition_count];
  char *type = cut(&text), *offset = cut(&text);
  bool gpt = layout->style == CSI_PARTITION_STYLE_GPT;
  if (text == NULL || !vdisk_number_parse(offset, &partition->offset_bytes) ||
      partition->offset_bytes > end_bytes)
    return fail(command, "partition=TYPE,OFFSET,LENGTH");
  if (strcmp(text, "rest") == 0) {
    partition->length_bytes = end_bytes - partition->offset_bytes;
  } else if (!vdisk_number_parse(text, &partition->length_bytes)) {
    return fail(command, "no length: %s", text);
  }
  if (!(gpt ? to_gpt_type(type, &partition->type) : to_mbr_type(type, &partition->mbr_type)))
    return fail(command, "no such type: %s", type);
  if (gpt) partition->id = storage_new_guid(&command->storage->model);
  partition->number = gpt ? 0 : (uint32_t)layout->partition_count + 1;
  layout->partition_count++;
  return true;
}

static bool read_partitions(struct command *command, uint64_t end_bytes, struct csi_layout *layout) {
  struct vdisk_words *words = &command->words;
  for (uint32_t i = 0; i < words->count; i++) {
    if (words->value[i] == NULL || strcmp(words->word[i], "partition") != 0) continue;
    words->used[i] = true;
    if (layout->partition_count == (layout->style == CSI_PARTITION_STYLE_GPT ? STORAGE_PARTITIONS_MAX : 4))
      return fail(command, "too many partitions");
    if (!add_partition(command, words->value[i], end_bytes, layout)) return false;
  }
  return true;
}

static bool read_style(struct command *command, enum csi_partition_style *style_out) {
  const char *style = vdisk_words_value(&command->words, "style");
  if (style == NULL) return fail(command, "style=gpt|mbr|raw is missing");
  *style_out = strcmp(style, "gpt") == 0   ? CSI_PARTITION_STYLE_GPT
               : strcmp(style, "mbr") == 0 ? CSI_PARTITION_STYLE_MBR
                                           : CSI_PARTITION_STYLE_RAW;
  return *style_out != CSI_PARTITION_STYLE_RAW || strcmp(style, "raw") == 0 ||
         fail(command, "no such style: %s", style);
}

static bool table(struct command *command) {
  uint32_t number;
  struct csi_partition partitions[STORAGE_PARTITIONS_MAX + 1] = {0};
  struct csi_layout now, layout = {.partitions = partitions};
  if (!read_disk(command, "disk", &number) || !read_style(command, &layout.style)) return false;
  STORAGE_VISIT(command->storage);
  struct storage_disk *disk = find_disk(command, number);
  if (disk == NULL) return false;
  if (storage_set_style(&command->storage->model, disk, layout.style) != 0)
    return fail(command, "the disk is too small");
  bool gpt = layout.style == CSI_PARTITION_STYLE_GPT;
  storage_get_layout(disk, &now);
  layout.disk_id = now.disk_id;
  if (!read_partitions(command, gpt ? now.usable_offset_bytes + now.usable_length_bytes : disk->seen_bytes,
                       &layout) ||
      !check_words(command))
    return false;
  if (gpt) return storage_set_layout(disk, &layout) == 0 || fail(command, "no such layout is possible");
  memcpy(disk->partitions, partitions, layout.partition_count * sizeof *partitions);
  disk->partition_count = layout.partition_count;
  return true;
}

static bool signature(struct command *command) {
  static const char *const names[] = {[CSI_FAKE_RAW] = "none",    [CSI_FAKE_NTFS] = "ntfs",
                                      [CSI_FAKE_REFS] = "refs",   [CSI_FAKE_BITLOCKER] = "bitlocker",
                                      [CSI_FAKE_FAT32] = "fat32", [CSI_FAKE_EXFAT] = "exfat",
                                      [CSI_FAKE_NOISE] = "noise"};
  uint32_t number;
  uint64_t partition_number = 0;
  const char *type = vdisk_words_value(&command->words, "type");
  if (!read_disk(command, "disk", &number) ||
      !read_number(command, "partition", STORAGE_PARTITIONS_MAX, &partition_number) || !check_words(command))
    return false;
  for (size_t i = 0; type != NULL && i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], type) != 0) continue;
    STORAGE_VISIT(command->storage);
    struct storage_disk *disk = find_disk(command, number);
    if (disk == NULL) return false;
    struct csi_partition *partition = storage_find_partition(disk, (uint32_t)partition_number);
    if (partition == NULL) return fail(command, "no such partition");
    uint64_t serial = storage_new_guid(&command->storage->model).data1;
    return storage_sign(disk, partition, (enum csi_fake_signature)i, 0, serial) || fail(command, "too small");
  }
  return fail(command, "no such type: %s", type == NULL ? "" : type);
}

/* ---- directory: only the fake's ---- */

static bool read_path(struct command *command, const char **path_out) {
  *path_out = NULL;
  if (!read_text(command, "path", path_out) || !check_words(command)) return false;
  return *path_out != NULL || fail(command, "path is missing");
}

static bool directory_add(struct command *command) {
  const char *path;
  if (!read_path(command, &path)) return false;
  csi_fake_add_directory(command->storage->model.files, path);
  return true;
}

static bool directory_exists(struct command *command) {
  const char *path;
  if (!read_path(command, &path)) return false;
  vdisk_text_add(&command->reply,
                 csi_fake_is_directory(command->storage->model.files, path) ? "yes\n" : "no\n");
  return true;
}

/* ---- Waiting ---- */

static bool wait_disks(struct command *command, const char *wanted) {
  uint64_t number, timeout_ms;
  if (!vdisk_number_parse(wanted, &number) || !read_number(command, "timeout", MAX_DELAY_MS, &timeout_ms) ||
      !check_words(command))
    return fail(command, "wait-disks N");
  STORAGE_VISIT(command->storage);
  uint64_t count = 0;
  for (struct storage_disk *disk = command->storage->model.disks; disk != NULL; disk = disk->next)
    if (disk->present) count++;
  return count == number || fail(command, "there are %u disks", (unsigned)count);
}

static uint64_t count_volumes(struct csi_fake_storage *storage, uint32_t number) {
  STORAGE_VISIT(storage);
  uint64_t count = 0;
  for (struct storage_volume *volume = storage->model.volumes; volume != NULL; volume = volume->next)
    if (storage_has_arrived(volume) && volume->disk->is.number == number) count++;
  return count;
}

static bool wait_volumes(struct command *command) {
  uint32_t number;
  uint64_t count = 1, timeout_ms = DEFAULT_WAIT_MS;
  if (!read_disk(command, "disk", &number) ||
      !read_number(command, "count", STORAGE_PARTITIONS_MAX, &count) ||
      !read_number(command, "timeout", MAX_DELAY_MS, &timeout_ms) || !check_words(command))
    return false;
  int64_t end_ns = csi_now_ns() + (int64_t)timeout_ms * 1000000;
  while (count_volumes(command->storage, number) != count) {
    if (csi_now_ns() > end_ns) return fail(command, "the volumes did not come");
    usleep(WAIT_MS * 1000);
  }
  return true;
}

/* ---- Everything ---- */

static bool reset(struct command *command) {
  if (!check_words(command)) return false;
  csi_fake_storage_clear_faults(command->storage);
  csi_fake_storage_reset_counts(command->storage);
  csi_fake_storage_set_automount(command->storage, true);
  STORAGE_VISIT(command->storage);
  for (struct storage_disk *disk = command->storage->model.disks; disk != NULL; disk = disk->next)
    if (disk->present) storage_unplug(disk);
  for (struct storage_volume *volume = command->storage->model.volumes; volume != NULL; volume = volume->next)
    volume->letter = 0;
  return true;
}

static bool automount(struct command *command, const char *verb) {
  bool on = strcmp(verb, "on") == 0;
  if (!on && strcmp(verb, "off") != 0) return fail(command, "automount on|off");
  csi_fake_storage_set_automount(command->storage, on);
  return check_words(command);
}

static bool fault_clear(struct command *command) {
  csi_fake_storage_clear_faults(command->storage);
  return check_words(command);
}

static const struct {
  const char *noun, *verb;
  bool (*run)(struct command *command);
} commands[] = {
    {"disk", "add", disk_add},
    {"disk", "remove", disk_remove},
    {"disk", "grow", disk_grow},
    {"disk", "set", disk_set},
    {"disk", "list", disk_list},
    {"volume", "list", volume_list},
    {"volume", "set", volume_set},
    {"volume", "letter", volume_letter},
    {"mount", "list", mount_list},
    {"fault", "add", fault_add},
    {"fault", "clear", fault_clear},
    {"fault", "list", fault_list},
    {"reset", "", reset},
    {"table", "", table},
    {"signature", "", signature},
    {"wait-volumes", "", wait_volumes},
    {"directory", "add", directory_add},
    {"directory", "exists", directory_exists},
};

static bool run(struct command *command) {
  const char *noun = vdisk_words_take(&command->words), *verb = vdisk_words_take(&command->words);
  if (strcmp(noun, "wait-disks") == 0) return wait_disks(command, verb);
  if (strcmp(noun, "counters") == 0) return counters(command, verb);
  if (strcmp(noun, "automount") == 0) return automount(command, verb);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (strcmp(commands[i].noun, noun) == 0 && strcmp(commands[i].verb, verb) == 0)
      return commands[i].run(command);
  return fail(command, "no such command: %s %s", noun, verb);
}

bool csi_fake_storage_command(struct csi_fake_storage *storage, const char *line, char *reply,
                              size_t reply_bytes) {
  char text[STORAGE_COMMAND_LINE_BYTES];
  struct command command = {.storage = storage};
  vdisk_text_init(&command.reply, reply, reply_bytes);
  if (strlen(line) >= sizeof text) return fail(&command, "the line is too long");
  memcpy(text, line, strlen(line) + 1);
  if (!vdisk_words_split(&command.words, text)) return fail(&command, "too many words");
  if (command.words.count == 0) return true;
  bool done = run(&command);
  return !(done && command.reply.is_cut) ? done : fail(&command, "the reply is too long");
}

bool csi_fake_storage_profile(struct csi_fake_storage *storage, const char *text, char *reply,
                              size_t reply_bytes) {
  static const struct csi_profile_variable variables[] = {{"images", "images"}, {NULL, NULL}};
  for (unsigned number = 1; *text != '\0'; number++) {
    char line[CSI_PROFILE_LINE_BYTES], problem[512];
    size_t length = strcspn(text, "\n");
    enum csi_profile_result result = csi_profile_read_line(text, length, variables, line);
    const char *why = result == CSI_PROFILE_COMMAND ? NULL : csi_profile_problem(result);
    if (result == CSI_PROFILE_COMMAND && !csi_fake_storage_command(storage, line, problem, sizeof problem))
      why = problem;
    if (why != NULL && why[0] != '\0') {
      snprintf(reply, reply_bytes, "line %u: %s", number, why);
      return false;
    }
    text += length + (text[length] == '\n');
  }
  reply[0] = '\0';
  return true;
}
