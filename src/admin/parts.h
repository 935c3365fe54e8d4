/* SPDX-License-Identifier: Apache-2.0
 *
 * What of Windows each API group stands on. Which parts there are, which of them a group cannot do without,
 * and what to do about a missing one stands in the table of parts.c, in portable code; the host says whether
 * one is there: parts_win32.c asks Windows, the fake node what a test told it.
 */
#ifndef CSI_ADMIN_PARTS_H
#define CSI_ADMIN_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "admin/texts.h"
#include "disk/host.h"
#include "smb/route.h"
#include "system/host.h"

enum csi_part_kind {
  CSI_PART_DIRECTORY, /* it is there and can be opened */
  CSI_PART_PRIVILEGE, /* the process has it, enabled */
  CSI_PART_LIBRARY,   /* a DLL of the system with all its functions */
  CSI_PART_SERVICE,   /* a service that is installed, and runs */
  CSI_PART_DEVICE,    /* a device that can be opened */
  CSI_PART_DISKS,     /* the list of disks; asked of csi_disk_host */
  CSI_PART_FIRMWARE,  /* the SMBIOS table; asked of csi_system_host */
  CSI_PART_SERVICES,  /* the service manager; asked of csi_system_host */
};

enum {
  CSI_PART_FUNCTIONS = 14,           /* most that are looked for in one DLL */
  CSI_PART_NO_SUCH_PRIVILEGE = 1313, /* of winerror.h: the system knows no privilege of that name */
};

/* Something a group stands on. */
struct csi_part_spec {
  const char *group;
  enum csi_part_kind kind;
  const char *name; /* directory, privilege, DLL, key name of the service, `\\.\Device` */
  /* A DLL's functions, up to the first NULL. */
  const char *functions[CSI_PART_FUNCTIONS + 1];
  bool required;
  const char *advice; /* what to do when it is missing */
  const char *lack;   /* the same of a service that is not installed; NULL = advice */
};

struct csi_parts_host {
  void *self; /* handed to check */

  /* True when the part is there. Otherwise false, with ctx->status: CSI_DEADLINE_EXCEEDED, CSI_CANCELLED,
   * CSI_UNAVAILABLE, CSI_RESOURCE_EXHAUSTED when that could not be found out; CSI_FAILED_PRECONDITION for a
   * service that is installed, does not run and can be started; CSI_SERVICE_DOES_NOT_EXIST for one that is
   * not installed; CSI_PART_NO_SUCH_PRIVILEGE; anything else when it is not there. May block, as a rule not
   * longer than until the call's deadline; on any thread. */
  bool (*check)(void *self, struct csi_ctx *ctx, const struct csi_part_spec *part);
};

enum csi_part_state {
  CSI_PART_UNKNOWN, /* as in the proto */
  CSI_PART_PRESENT,
  CSI_PART_MISSING,
};

struct csi_part {
  const char *name;
  enum csi_part_state state;
  bool required;
  const char *detail; /* "" when nothing is wrong */
};

/* A group and its parts; all in an arena. */
struct csi_group_parts {
  const char *group;
  bool is_ready;    /* every required part is present */
  bool is_required; /* the node is not ready without this group */
  struct csi_part *parts;
  size_t count;
  size_t capacity;
};

/* Who is asked; all must outlive whoever asks. */
struct csi_parts_hosts {
  const struct csi_parts_host *parts;
  const struct csi_disk_host *disks;
  const struct csi_system_host *system;
};

struct csi_parts_options {
  const char *const *working_dirs;
  size_t working_dir_count;
  enum csi_smb_route route;
  uint32_t fresh_ms, look_ms; /* see admin/readiness.h; 0 = as there */
};

/* How many groups have parts: as many as csi_parts_look() gives. */
enum {
  CSI_PARTS_GROUPS = 6,
};

/* Looks at all parts of all groups; blocks for each until it is known, or ctx's deadline. at_out: the name of
 * the part that is being looked at, a literal or of options. Fails only when memory is short. */
bool csi_parts_look(struct csi_ctx *ctx, const struct csi_parts_hosts *hosts,
                    const struct csi_parts_options *options, _Atomic(const char *) *at_out,
                    struct csi_group_parts groups_out[CSI_PARTS_GROUPS]) CSI_MUST_CHECK;

/* What there is to tell of the groups when no look has an end: each has one part, which is unknown. why: in
 * ctx->arena. */
bool csi_parts_unknown(struct csi_ctx *ctx, const char *why,
                       struct csi_group_parts groups_out[CSI_PARTS_GROUPS]) CSI_MUST_CHECK;

#endif
