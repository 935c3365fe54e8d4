/* SPDX-License-Identifier: Apache-2.0
 *
 * Text put together in a buffer of fixed size: replies, object names. There is no C library in a driver.
 */
#ifndef VDISK_TEXT_H
#define VDISK_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text so far, always NUL-terminated. is_cut says that something did not fit; nothing is added after. */
struct vdisk_text {
  char *buffer;
  size_t capacity_bytes;
  size_t length_bytes;
  bool is_cut;
};

/* Starts an empty text in the buffer (capacity_bytes > 0), which stays the caller's. */
void vdisk_text_init(struct vdisk_text *text, char *buffer, size_t capacity_bytes);

void vdisk_text_add(struct vdisk_text *text, const char *string);
void vdisk_text_add_bytes(struct vdisk_text *text, const char *bytes, size_t count);
void vdisk_text_add_number(struct vdisk_text *text, uint64_t number);
/* At least `digits` hexadecimal digits, lower case. */
void vdisk_text_add_hex(struct vdisk_text *text, uint64_t number, unsigned digits);
/* UTF-16 of which anything but printable ASCII, and the blank and %, is written %uXXXX. */
void vdisk_text_add_utf16(struct vdisk_text *text, const uint16_t *units_w, size_t count);
/* {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx} of the 16 bytes of a GUID as Windows and GPT keep it. */
void vdisk_text_add_guid(struct vdisk_text *text, const uint8_t guid[16]);

/* ` key=number`, ` key=string`: one word of a reply line. */
void vdisk_text_add_number_word(struct vdisk_text *text, const char *key, uint64_t number);
void vdisk_text_add_word(struct vdisk_text *text, const char *key, const char *string);

/* Reads a GUID in the form that vdisk_text_add_guid() writes, in either case. False when it is none. */
bool vdisk_guid_parse(const char *string, uint8_t guid_out[16]);

/* The value of a hexadecimal digit, -1 for anything else. */
int vdisk_hex_digit(char digit);

#endif
