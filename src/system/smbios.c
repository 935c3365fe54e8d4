/* SPDX-License-Identifier: Apache-2.0 */
#include "system/smbios.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/little_endian.h"
#include "base/text.h"

/* RawSMBIOSData: calling method u8, major u8, minor u8, revision u8, length u32, then the structures. One
 * structure: type u8, length u8 of the formatted part, handle u16, the rest of that part; then strings that
 * end in a NUL each, and one more NUL; or two NULs when there is no string. */
enum {
  LENGTH_AT = 4,
  RAW_HEADER_BYTES = 8,
  STRUCTURE_HEADER_BYTES = 4,
  TYPE_SYSTEM_INFORMATION = 1,
  TYPE_END = 127,
  SERIAL_NUMBER_AT = 7, /* in the system information: number of the string, 0 = none */
};

struct structure {
  uint8_t type;
  const uint8_t *formatted;
  size_t formatted_bytes;
  const uint8_t *strings;
  size_t strings_bytes; /* without the NUL behind the last one's */
};

/* Finds where the strings end. The two NULs may be all there is. */
static bool find_end(const uint8_t *bytes, size_t size_bytes, size_t *end_out) {
  for (size_t i = 0; i + 1 < size_bytes; i++) {
    if (bytes[i] != 0 || bytes[i + 1] != 0) continue;
    *end_out = i + 1;
    return true;
  }
  return false;
}

/* Reads the first structure of *rest, and shortens that. */
static bool take_structure(struct csi_bytes *rest, struct structure *structure_out) {
  if (rest->size_bytes < STRUCTURE_HEADER_BYTES) return false;
  size_t formatted_bytes = rest->data[1];
  if (formatted_bytes < STRUCTURE_HEADER_BYTES || formatted_bytes > rest->size_bytes) return false;
  const uint8_t *strings = rest->data + formatted_bytes;
  size_t left_bytes = rest->size_bytes - formatted_bytes, strings_bytes;
  *structure_out = (struct structure){
      .type = rest->data[0], .formatted = rest->data, .formatted_bytes = formatted_bytes, .strings = strings};
  if (structure_out->type == TYPE_END) return true; /* some firmware ends right here */
  if (!find_end(strings, left_bytes, &strings_bytes)) return false;
  structure_out->strings_bytes = strings_bytes;
  *rest =
      (struct csi_bytes){.data = strings + strings_bytes + 1, .size_bytes = left_bytes - strings_bytes - 1};
  return true;
}

/* The string of this number, counted from 1; empty when there is no such. */
static struct csi_bytes get_string(const struct structure *structure, size_t number) {
  const uint8_t *text = structure->strings;
  size_t left_bytes = structure->strings_bytes;
  while (number > 0 && left_bytes > 0 && text[0] != 0) {
    size_t length_bytes = strnlen((const char *)text, left_bytes);
    if (--number == 0) return (struct csi_bytes){.data = text, .size_bytes = length_bytes};
    size_t step_bytes = length_bytes < left_bytes ? length_bytes + 1 : length_bytes;
    text += step_bytes;
    left_bytes -= step_bytes;
  }
  return (struct csi_bytes){0};
}

static char *from_latin1(struct csi_arena *arena, const uint8_t *bytes, size_t size_bytes) {
  char *text = csi_arena_alloc(arena, 2 * size_bytes + 1);
  if (text == NULL) return NULL;
  size_t length = 0;
  for (size_t i = 0; i < size_bytes; i++) {
    if (bytes[i] < 0x80) {
      text[length++] = (char)bytes[i];
    } else {
      text[length++] = (char)(0xC0 | bytes[i] >> 6);
      text[length++] = (char)(0x80 | (bytes[i] & 0x3F));
    }
  }
  return text;
}

static bool take_serial(struct csi_arena *arena, const struct structure *structure, const char **serial_out,
                        struct csi_status *status) {
  struct csi_bytes serial = {0};
  if (structure->formatted_bytes > SERIAL_NUMBER_AT)
    serial = get_string(structure, structure->formatted[SERIAL_NUMBER_AT]);
  while (serial.size_bytes > 0 && serial.data[serial.size_bytes - 1] == ' ')
    serial.size_bytes--;
  if (serial.size_bytes == 0)
    *serial_out = "";
  else if (csi_utf8_is_valid((const char *)serial.data, serial.size_bytes))
    *serial_out = csi_arena_strndup(arena, (const char *)serial.data, serial.size_bytes);
  else
    *serial_out = from_latin1(arena, serial.data, serial.size_bytes);
  return *serial_out != NULL || csi_fail_out_of_memory(status);
}

bool csi_smbios_get_serial_number(struct csi_arena *arena, const struct csi_bytes *table,
                                  const char **serial_out, struct csi_status *status) {
  if (table->size_bytes < RAW_HEADER_BYTES)
    return csi_fail(status, CSI_DATA_LOSS, "the firmware's table has %zu bytes", table->size_bytes);
  struct csi_bytes rest = {.data = table->data + RAW_HEADER_BYTES,
                           .size_bytes = table->size_bytes - RAW_HEADER_BYTES};
  uint32_t length_bytes = csi_get_u32(table->data + LENGTH_AT);
  if (length_bytes < rest.size_bytes) rest.size_bytes = length_bytes;
  while (rest.size_bytes > 0) {
    size_t offset = (size_t)(rest.data - table->data);
    struct structure structure;
    if (!take_structure(&rest, &structure))
      return csi_fail(status, CSI_DATA_LOSS,
                      "the firmware's table is malformed at byte %zu of %zu, before the system information",
                      offset, table->size_bytes);
    if (structure.type == TYPE_SYSTEM_INFORMATION) return take_serial(arena, &structure, serial_out, status);
    if (structure.type == TYPE_END) break;
  }
  *serial_out = "";
  return true;
}
