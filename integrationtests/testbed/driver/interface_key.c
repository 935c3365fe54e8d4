/* SPDX-License-Identifier: Apache-2.0 */
#include "interface_key.h"

#include "name.h"
#include "text.h"

enum { NAME_PREFIX_UNITS = 4, GUID_UNITS = 38 };

/* The key of \??\vdisk#disk#3#{guid} is {guid}\##?#vdisk#disk#3#{guid} among the device classes. */
static void key_of(const UNICODE_STRING *name, const char *subkey, char *buffer) {
  const WCHAR *units_w = name->Buffer;
  size_t units = name->Length / sizeof(WCHAR);
  struct vdisk_text text;
  vdisk_text_init(&text, buffer, VDISK_NAME_LIMIT);
  vdisk_text_add(&text, "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\DeviceClasses\\");
  vdisk_text_add_utf16(&text, units_w + units - GUID_UNITS, GUID_UNITS);
  vdisk_text_add(&text, "\\##?#");
  vdisk_text_add_utf16(&text, units_w + NAME_PREFIX_UNITS, units - NAME_PREFIX_UNITS);
  vdisk_text_add(&text, subkey);
}

static void delete_key(const char *path) {
  struct vdisk_name name;
  OBJECT_ATTRIBUTES attributes;
  HANDLE key;
  vdisk_name_set(&name, path);
  InitializeObjectAttributes(&attributes, &name.string, OBJ_CASE_INSENSITIVE | OBJ_KERNEL_HANDLE, NULL, NULL);
  if (!NT_SUCCESS(ZwOpenKey(&key, DELETE, &attributes))) return;
  ZwDeleteKey(key);
  ZwClose(key);
}

void vdisk_interface_key_delete(const UNICODE_STRING *name) {
  static const char *const subkeys[] = {"\\#\\Control", "\\#", ""}; /* innermost first */
  char path[VDISK_NAME_LIMIT];
  if (name->Length / sizeof(WCHAR) < NAME_PREFIX_UNITS + GUID_UNITS) return;
  for (size_t i = 0; i < sizeof subkeys / sizeof subkeys[0]; i++) {
    key_of(name, subkeys[i], path);
    delete_key(path);
  }
}
