/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests: a fake node with the filesystem group on it, and its RPCs as plain calls. Every call checks
 * that no handle stays open and that a status is set exactly when the call fails.
 */
#ifndef CSI_FILESYSTEM_HANDLERS_FIXTURE_H
#define CSI_FILESYSTEM_HANDLERS_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/ctx.h"
#include "filesystem/group.h"
#include "filesystem_fake.h"

/* The working directory of all tests, and one beside it that is none. */
#define K "C:\\var\\lib\\kubelet"
#define EVIL "C:\\var\\lib\\kubelet-evil"
#define VOLUME "Volume{01234567-0000-0000-0000-000000000001}"

struct handlers_fixture {
  struct csi_fake_filesystem *fake;
  struct csi_filesystem *group;
  struct csi_status status; /* of the last call */
  size_t arena_bytes;       /* used by the last call */
  size_t arena_cap_bytes;   /* for the next calls */
  int64_t deadline_ns;      /* for the next calls */
  unsigned fail_allocation; /* the nth allocation of the next call fails; 0 = none */
  bool allocation_failed;   /* whether it did */
  atomic_bool cancelled;
};

/* cmocka set-up and tear-down: *state is the fixture; its node has K and a data volume, VOLUME. */
int handlers_fixture_set_up(void **state);
int handlers_fixture_tear_down(void **state);

/* Replaces the working directories; they are not made. */
void use_working_directories(struct handlers_fixture *fixture, const char *const *roots, size_t count);

bool call_path_exists(struct handlers_fixture *fixture, const char *path, bool *exists_out);
bool call_mkdir(struct handlers_fixture *fixture, const char *path);
bool call_rmdir(struct handlers_fixture *fixture, const char *path, bool force);
bool call_rmdir_contents(struct handlers_fixture *fixture, const char *path);
bool call_create_symlink(struct handlers_fixture *fixture, const char *source, const char *target);
/* No RPC of this group: csi_make_share_link(), with K as the working directory. */
bool call_share_link(struct handlers_fixture *fixture, const char *share, const char *target);
bool call_is_symlink(struct handlers_fixture *fixture, const char *path, bool *is_symlink_out);

/* The same, for results that are certain. */
void assert_ok(struct handlers_fixture *fixture, bool result);
void assert_exists(struct handlers_fixture *fixture, const char *path, bool exists);
void assert_is_symlink(struct handlers_fixture *fixture, const char *path, bool is_symlink);
/* The last call failed with this code and with a text that begins so. */
void assert_failed(struct handlers_fixture *fixture, bool result, enum csi_code code, const char *text);

#endif
