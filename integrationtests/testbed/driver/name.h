/* SPDX-License-Identifier: Apache-2.0
 *
 * Names in the object manager's directory. They are short and ASCII.
 */
#ifndef VDISK_NAME_H
#define VDISK_NAME_H

#include "nt.h"

enum { VDISK_NAME_LIMIT = 512 };

/* A name with room of its own. `string` points into it, so it must not be copied. */
struct vdisk_name {
  UNICODE_STRING string;
  WCHAR buffer_w[VDISK_NAME_LIMIT];
};

/* Widens the name; what is too long is cut. */
void vdisk_name_set(struct vdisk_name *name, const char *ascii);

/* True when string is `ascii`, in any case. */
bool vdisk_name_equals(const UNICODE_STRING *string, const char *ascii);

/* Makes a symbolic link, in place of one that is there; removes it. */
NTSTATUS vdisk_link_set(const char *link, const char *target);
void vdisk_link_remove(const char *link);

#endif
