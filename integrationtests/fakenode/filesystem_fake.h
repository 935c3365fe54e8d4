/* SPDX-License-Identifier: Apache-2.0
 *
 * A coherent NTFS in memory behind the host interface of the filesystem group: volumes, directories,
 * files, links, junctions, mounted folders and foreign reparse points; names that ignore case; removal
 * that takes effect when the handle is closed. Tests build a scene, let handlers loose on it, and look.
 * It can be told to fail any step, and to let the test interfere between any two.
 *
 * Every function may be called from any thread. Scene functions abort the program when the scene is
 * impossible. Paths are absolute, UTF-8, and never follow links.
 */
#ifndef CSI_FAKENODE_FILESYSTEM_FAKE_H
#define CSI_FAKENODE_FILESYSTEM_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filesystem/host.h"

struct csi_fake_filesystem;

/* The steps of the host interface, as bits. */
enum csi_fake_call {
  CSI_FAKE_OPEN_PATH = 1 << 0,
  CSI_FAKE_OPEN_CHILD = 1 << 1,
  CSI_FAKE_CREATE_CHILD = 1 << 2,
  CSI_FAKE_NEXT_CHILD = 1 << 3,
  CSI_FAKE_REMOVE = 1 << 4,
  CSI_FAKE_READ_REPARSE = 1 << 5,
  CSI_FAKE_WRITE_REPARSE = 1 << 6,
  CSI_FAKE_GET_VOLUME = 1 << 7,
  CSI_FAKE_FIND_CHILD = 1 << 8,
  CSI_FAKE_GET_IDENTITY = 1 << 9,
  CSI_FAKE_DELETE_REPARSE = 1 << 10,
  CSI_FAKE_CLOSE = 1 << 11,
  CSI_FAKE_ANY_CALL = CSI_FAKE_CLOSE - 1, /* all that can fail */
};

/* Makes a node with one empty volume, the system's: drive C:. */
struct csi_fake_filesystem *csi_fake_filesystem_new(void);
void csi_fake_filesystem_free(struct csi_fake_filesystem *fake);
const struct csi_filesystem_host *csi_fake_filesystem_host(struct csi_fake_filesystem *fake);

/* Adds an empty volume. name: "Volume{01234567-0000-0000-0000-000000000001}"; drive: its letter, or 0. */
void csi_fake_add_volume(struct csi_fake_filesystem *fake, const char *name, char drive, uint64_t serial);
/* From now on the volume cannot be opened: error, or 0 for as before. */
void csi_fake_break_volume(struct csi_fake_filesystem *fake, const char *name, uint32_t error);

/* The volume loses all its entries, as formatting does. Handles that are open stay valid. */
void csi_fake_empty_volume(struct csi_fake_filesystem *fake, const char *name);
/* The volume with that letter, in either case. False: there is none. */
bool csi_fake_find_drive(struct csi_fake_filesystem *fake, char drive, char name_out[64]);

/* Scene. Missing parents are made. `\\?\Volume{...}\x` names what has no drive letter. */
void csi_fake_add_directory(struct csi_fake_filesystem *fake, const char *path);
void csi_fake_add_file(struct csi_fake_filesystem *fake, const char *path);
/* substitute: as stored, such as `\??\C:\a` or, for a relative link, `..\a`. */
void csi_fake_add_symlink(struct csi_fake_filesystem *fake, const char *path, const char *substitute,
                          bool relative, bool directory);
/* Also for mounted folders: substitute is then `\??\Volume{...}\`. */
void csi_fake_add_junction(struct csi_fake_filesystem *fake, const char *path, const char *substitute);
void csi_fake_add_reparse_point(struct csi_fake_filesystem *fake, const char *path, uint32_t tag,
                                bool directory);
/* Adds a file whose name is not well-formed UTF-16: a lone surrogate. */
void csi_fake_add_lone_surrogate(struct csi_fake_filesystem *fake, const char *directory);
/* Gives the entry a second name of the kind `PROGRA~1`, which listings do not show. */
void csi_fake_set_short_name(struct csi_fake_filesystem *fake, const char *path, const char *name);
void csi_fake_set_read_only(struct csi_fake_filesystem *fake, const char *path);
/* Somebody holds the entry open: opening it to remove it gives SHARING_VIOLATION. */
void csi_fake_lock(struct csi_fake_filesystem *fake, const char *path);
/* Opening the entry for any purpose gives error. */
void csi_fake_deny(struct csi_fake_filesystem *fake, const char *path, uint32_t error);
/* Renames `from`, with everything in it, to `to`, whose parent must exist. */
void csi_fake_move(struct csi_fake_filesystem *fake, const char *from, const char *to);
/* Reparse points are accepted and not kept, as some systems do. */
void csi_fake_lose_reparse_points(struct csi_fake_filesystem *fake);

/* What is there now. */
bool csi_fake_exists(struct csi_fake_filesystem *fake, const char *path);
bool csi_fake_is_directory(struct csi_fake_filesystem *fake, const char *path);
bool csi_fake_is_reparse_point(struct csi_fake_filesystem *fake, const char *path);
size_t csi_fake_count_children(struct csi_fake_filesystem *fake, const char *path);
size_t csi_fake_open_handles(struct csi_fake_filesystem *fake);
/* How often somebody tried to reach another machine. */
size_t csi_fake_network_touches(struct csi_fake_filesystem *fake);

/* How many opens were to be given up after a while (CSI_ACCESS_FAR). */
size_t csi_fake_count_far_opens(struct csi_fake_filesystem *fake);

/* The nth of the following calls that are among `calls` fails with error (1 = the next). */
void csi_fake_fail(struct csi_fake_filesystem *fake, unsigned calls, unsigned nth, uint32_t error);
/* True when the failure asked for has happened. */
bool csi_fake_has_failed(struct csi_fake_filesystem *fake);

/* Calls hook before every step, with no lock held, so that it may change the scene. name: the component
 * or path concerned, "" when there is none; valid during the call. NULL removes the hook. */
typedef void csi_fake_hook(struct csi_fake_filesystem *fake, enum csi_fake_call call, const char *name,
                           void *data);
void csi_fake_set_hook(struct csi_fake_filesystem *fake, csi_fake_hook *hook, void *data);

/* How many of these calls there have been. */
size_t csi_fake_count_calls(struct csi_fake_filesystem *fake, unsigned calls);

#endif
