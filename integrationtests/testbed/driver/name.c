/* SPDX-License-Identifier: Apache-2.0 */
#include "name.h"

#include <string.h>

void vdisk_name_set(struct vdisk_name *name, const char *ascii) {
  USHORT units = 0;
  for (; ascii[units] != 0 && units < VDISK_NAME_LIMIT; units++)
    name->buffer_w[units] = (UCHAR)ascii[units];
  USHORT bytes = (USHORT)(units * sizeof(WCHAR));
  name->string = (UNICODE_STRING){.Length = bytes, .MaximumLength = bytes, .Buffer = name->buffer_w};
}

bool vdisk_name_equals(const UNICODE_STRING *string, const char *ascii) {
  struct vdisk_name name;
  vdisk_name_set(&name, ascii);
  return RtlEqualUnicodeString(string, &name.string, TRUE);
}

NTSTATUS vdisk_link_set(const char *link, const char *target) {
  struct vdisk_name link_w, target_w;
  vdisk_name_set(&link_w, link);
  vdisk_name_set(&target_w, target);
  IoDeleteSymbolicLink(&link_w.string);
  return IoCreateSymbolicLink(&link_w.string, &target_w.string);
}

void vdisk_link_remove(const char *link) {
  struct vdisk_name link_w;
  vdisk_name_set(&link_w, link);
  IoDeleteSymbolicLink(&link_w.string);
}
