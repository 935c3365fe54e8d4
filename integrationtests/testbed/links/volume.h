/* SPDX-License-Identifier: Apache-2.0
 *
 * Directories that stand for the file systems of emulated volumes: what is on `\??\Volume{guid}\` is in
 * C:\testbed\volumes\{guid}. Where the testbed's driver runs, a volume is there while its device is; where it
 * does not run, while its directory is. The directory is made when somebody looks for the first time at what
 * is on the volume, but not before it has been formatted. Wine's own volumes are the roots of its drives.
 */
#ifndef CSI_TESTBED_LINKS_VOLUME_H
#define CSI_TESTBED_LINKS_VOLUME_H

#include "win32/nt.h"

enum {
  LINKS_VOLUME_NAME_UNITS = 44, /* `Volume{guid}` */
  LINKS_VOLUME_PATH_UNITS = 80, /* enough for links_volume_directory(), with its NUL */
};

/* True when text begins with `Volume{guid}`. */
bool links_is_volume_name(const wchar_t *text_w, size_t units);

#define LINKS_STATUS_NO_SUCH_VOLUME ((NTSTATUS)0xC000000E)

/* Finds the directory of a volume, `\??\C:\testbed\volumes\{guid}`, and makes it if need be.
 * name_w: begins with `Volume{guid}`. Returns LINKS_STATUS_NO_SUCH_VOLUME, or what the driver says about a
 * volume without a file system. */
NTSTATUS links_volume_directory(const wchar_t *name_w, wchar_t path_out[LINKS_VOLUME_PATH_UNITS]);

/* True where the driver of the testbed runs. */
bool links_have_driver(void);

/* Length of the part of an NT path that names the root of its volume, without the backslash behind it: of
 * `\??\C:`, or of a directory that stands for a volume. */
size_t links_volume_root_units(const wchar_t *path_w, size_t units);

/* The serial number of the volume that an NT path is on, if that is an emulated one; else 0. */
ULONG links_volume_serial(const wchar_t *path_w, size_t units);

#endif
