/* SPDX-License-Identifier: Apache-2.0
 *
 * What the filesystem group needs of an operating system: single steps on open handles, never a walk.
 * All rules about links, about what may be removed and what an error means stand on this side of the
 * table, in portable code; host_win32.c fills it with NT calls, the fake node with a tree in memory.
 *
 * Every function returns 0 or a Win32 error number, also where the system call below yields an NTSTATUS:
 * drivers match the texts of the Win32 numbers. All may block on a slow disk; all may be called from
 * several threads at once, though not on one handle.
 */
#ifndef CSI_FILESYSTEM_HOST_H
#define CSI_FILESYSTEM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of winerror.h that portable code tells apart. */
enum csi_filesystem_error {
  CSI_WIN32_OK = 0,
  CSI_WIN32_FILE_NOT_FOUND = 2,
  CSI_WIN32_PATH_NOT_FOUND = 3,
  CSI_WIN32_ACCESS_DENIED = 5,
  CSI_WIN32_INVALID_DRIVE = 15,
  CSI_WIN32_NO_MORE_FILES = 18,
  CSI_WIN32_NOT_READY = 21,
  CSI_WIN32_SHARING_VIOLATION = 32,
  CSI_WIN32_NOT_SUPPORTED = 50,
  CSI_WIN32_BAD_NETPATH = 53,
  CSI_WIN32_DEV_NOT_EXIST = 55,
  CSI_WIN32_BAD_NET_NAME = 67,
  CSI_WIN32_INVALID_NAME = 123,
  CSI_WIN32_DIR_NOT_EMPTY = 145,
  CSI_WIN32_ALREADY_EXISTS = 183,
  CSI_WIN32_DIRECTORY = 267,
  CSI_WIN32_DELETE_PENDING = 303,
  CSI_WIN32_NO_SUCH_DEVICE = 433,
  CSI_WIN32_UNRECOGNIZED_VOLUME = 1005,
  CSI_WIN32_DEVICE_NOT_CONNECTED = 1167,
  CSI_WIN32_NOT_A_REPARSE_POINT = 4390,
  CSI_WIN32_INVALID_REPARSE_DATA = 4392,
  CSI_WIN32_REPARSE_TAG_MISMATCH = 4394,
};

enum {
  CSI_ATTRIBUTE_READ_ONLY = 0x1,
  CSI_ATTRIBUTE_DIRECTORY = 0x10,
  CSI_ATTRIBUTE_REPARSE_POINT = 0x400,
  CSI_NAME_UNITS_MAX = 255, /* of one component, on every file system of Windows */
};

/* What a handle is wanted for, besides looking at the entry and at its children. */
enum csi_access {
  CSI_ACCESS_LOOK = 0,
  CSI_ACCESS_LIST = 1,
  CSI_ACCESS_REMOVE = 2,
  CSI_ACCESS_FAR = 4, /* beyond a link, perhaps on a device that does not answer: is given up after a while */
};

/* A name as the file system has it: UTF-16, which need not be well-formed. */
struct csi_name {
  const uint16_t *units;
  size_t count;
};

struct csi_entry {
  uint32_t attributes; /* CSI_ATTRIBUTE_*, and others */
  uint32_t tag;        /* of the reparse point, else 0 */
};

struct csi_child {
  uint16_t name_w[CSI_NAME_UNITS_MAX + 1]; /* NUL-terminated */
  size_t name_units;
  uint32_t attributes; /* at the time of listing */
};

struct csi_file_volume {
  uint64_t serial;
  bool is_system; /* Windows itself is on it */
};

/* What an entry is, however it was reached: by its long name, its short one, or through a link. */
struct csi_identity {
  uint64_t volume_serial;
  uint8_t file_id[16];
};

struct csi_filesystem_host {
  void *self; /* handed to every function */

  /* Opens a directory by its absolute path, `X:\...` or `\\?\Volume{guid}\...`, following links: for
   * paths that an administrator chose, and for roots of volumes. Holds nobody off: the directory may be
   * renamed or removed meanwhile, and the handle stays with it. Nor does CSI_ACCESS_LOOK care for what
   * others hold it open for. */
  uint32_t (*open_path)(void *self, const char *path, unsigned access, void **handle_out);

  /* Opens the entry called name in the directory behind parent. A link is opened itself. entry_out is
   * read from the handle, so it stays true of what was opened. */
  uint32_t (*open_child)(void *self, void *parent, struct csi_name name, unsigned access, void **handle_out,
                         struct csi_entry *entry_out);

  /* Says whether there is an entry called name in the directory behind parent; a link is not followed.
   * Cheaper than open_child(): the entry is not looked at. */
  uint32_t (*find_child)(void *self, void *parent, struct csi_name name);

  /* Makes a directory or an empty file that is not there yet, else CSI_WIN32_ALREADY_EXISTS. The handle
   * may be given to write_reparse and read_reparse. */
  uint32_t (*create_child)(void *self, void *parent, struct csi_name name, bool directory, unsigned access,
                           void **handle_out);

  /* Gives the next entry, `.` and `..` left out, or CSI_WIN32_NO_MORE_FILES. Entries may be removed
   * meanwhile. Needs CSI_ACCESS_LIST. */
  uint32_t (*next_child)(void *self, void *handle, bool restart, struct csi_child *child_out);

  /* Removes the entry behind handle, be it read-only or a link; what a link leads to is not touched. A
   * directory must be empty. Takes effect when the handle is closed, at the latest. tag: as open_child
   * gave it; the record that Windows keeps of a mounted folder goes too. When this fails, a mounted folder
   * may be left as an empty directory. Needs CSI_ACCESS_REMOVE. */
  uint32_t (*remove)(void *self, void *handle, uint32_t tag);

  /* Reads at most capacity_bytes of REPARSE_DATA_BUFFER. */
  uint32_t (*read_reparse)(void *self, void *handle, uint8_t *bytes, size_t capacity_bytes, size_t *size_out);
  /* Turns the entry behind handle into a reparse point, or replaces one of the same tag; one of another tag
   * gives CSI_WIN32_REPARSE_TAG_MISMATCH. A directory must be empty. Needs a handle of create_child() or
   * CSI_ACCESS_REMOVE. */
  uint32_t (*write_reparse)(void *self, void *handle, const uint8_t *bytes, size_t size_bytes);
  /* Turns a reparse point back into the plain, empty directory or file that it was. tag: as open_child gave
   * it; when it is another by now, CSI_WIN32_REPARSE_TAG_MISMATCH or _NOT_A_REPARSE_POINT, and nothing is
   * changed. The record that Windows keeps of a mounted folder goes too. Needs CSI_ACCESS_REMOVE. */
  uint32_t (*delete_reparse)(void *self, void *handle, uint32_t tag);

  /* Says which volume a handle is on. */
  uint32_t (*get_volume)(void *self, void *handle, struct csi_file_volume *volume_out);

  /* Says what is behind a handle. Two handles that are open at the same time have equal identities exactly
   * when they are on the same entry. */
  uint32_t (*get_identity)(void *self, void *handle, struct csi_identity *identity_out);

  void (*close)(void *self, void *handle);
};

#endif
