/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/parts.h"

#include <string.h>

enum {
  PART_MS = 2000, /* the longest a single part may take */
};
#define NS_PER_MS INT64_C(1000000)

#define RUN_AS_SYSTEM "Run the service as LocalSystem, which has it"
#define NOT_ASKED_FOR "Nobody asks for what the system does not know"
#define REPAIR "It belongs to every Windows: check the image with DISM /Online /Cleanup-Image /ScanHealth"

/* A node is not ready without these; many have no use for the others. */
static const struct {
  const char *name;
  bool is_required;
} groups[CSI_PARTS_GROUPS] = {
    {"filesystem", true}, {"disk", true},    {"volume", true},
    {"smb", false},       {"system", false}, {"iscsi", false},
};

static const struct csi_part_spec specs[] = {
    {.group = "filesystem",
     .kind = CSI_PART_PRIVILEGE,
     .name = "SeCreateSymbolicLinkPrivilege",
     .required = true,
     .advice = RUN_AS_SYSTEM},
    {.group = "filesystem",
     .kind = CSI_PART_PRIVILEGE,
     .name = "SeBackupPrivilege",
     .advice = "Without it, directories whose ACL shuts the service out cannot be removed. " RUN_AS_SYSTEM},
    {.group = "filesystem",
     .kind = CSI_PART_PRIVILEGE,
     .name = "SeRestorePrivilege",
     .advice = "Without it, directories whose ACL shuts the service out cannot be removed. " RUN_AS_SYSTEM},
    {.group = "disk",
     .kind = CSI_PART_LIBRARY,
     .name = "setupapi.dll",
     .required = true,
     .advice = REPAIR,
     .functions = {"SetupDiGetClassDevsW", "SetupDiEnumDeviceInterfaces",
                   "SetupDiGetDeviceInterfaceDetailW"}},
    {.group = "disk",
     .kind = CSI_PART_LIBRARY,
     .name = "cfgmgr32.dll",
     .functions = {"CM_Reenumerate_DevNode"},
     .advice = "Without it, Rescan fails. " REPAIR},
    {.group = "disk",
     .kind = CSI_PART_DISKS,
     .name = "list of disks",
     .required = true,
     .advice = "Check the driver of the storage controller and the system event log"},
    {.group = "disk",
     .kind = CSI_PART_PRIVILEGE,
     .name = "SeLoadDriverPrivilege",
     .advice = "Without it, Rescan may miss new disks. " RUN_AS_SYSTEM},
    {.group = "volume",
     .kind = CSI_PART_LIBRARY,
     .name = "fmifs.dll",
     .functions = {"FormatEx"},
     .required = true,
     .advice = REPAIR},
    {.group = "volume",
     .kind = CSI_PART_DEVICE,
     .name = "\\\\.\\MountPointManager",
     .required = true,
     .advice = "Run the service as LocalSystem; check that the driver mountmgr runs: sc.exe query mountmgr"},
    {.group = "volume",
     .kind = CSI_PART_PRIVILEGE,
     .name = "SeManageVolumePrivilege",
     .advice = "Without it, ResizeVolume fails. " RUN_AS_SYSTEM},
    {.group = "smb",
     .kind = CSI_PART_SERVICE,
     .name = "LanmanWorkstation",
     .required = true,
     .advice = "Start it: sc.exe config LanmanWorkstation start= auto, sc.exe start LanmanWorkstation",
     .lack = "This edition of Windows has no SMB client; only nodes with SMB volumes need one"},
    {.group = "system",
     .kind = CSI_PART_SERVICES,
     .name = "service manager",
     .required = true,
     .advice = "Run the service as LocalSystem"},
    {.group = "system",
     .kind = CSI_PART_FIRMWARE,
     .name = "SMBIOS table",
     .advice = "Without it, GetBIOSSerialNumber fails; the machine's firmware has to give one"},
    {.group = "iscsi",
     .kind = CSI_PART_LIBRARY,
     .name = "iscsidsc.dll",
     .functions = {"AddIScsiSendTargetPortalW", "LoginIScsiTargetW", "LogoutIScsiTarget",
                   "GetIScsiSessionListW"},
     .required = true,
     .advice = "This edition of Windows has no iSCSI initiator; only nodes with iSCSI volumes need one"},
    {.group = "iscsi",
     .kind = CSI_PART_SERVICE,
     .name = "MSiSCSI",
     .required = true,
     .advice =
         "Start it: sc.exe config MSiSCSI start= auto, sc.exe start MSiSCSI; only nodes with iSCSI volumes "
         "need it",
     .lack = "This edition of Windows has no iSCSI initiator; only nodes with iSCSI volumes need one"},
};

/* The two ways to global mappings. */
static const struct csi_part_spec wnet = {.group = "smb",
                                          .kind = CSI_PART_LIBRARY,
                                          .name = "mpr.dll",
                                          .functions = {"WNetAddConnection4W", "WNetCancelConnection2W",
                                                        "WNetOpenEnumW", "WNetEnumResourceW", "WNetCloseEnum",
                                                        "WNetGetLastErrorW"},
                                          .advice = "Windows has WNetAddConnection4W since version 1709"};
static const struct csi_part_spec mi = {.group = "smb",
                                        .kind = CSI_PART_LIBRARY,
                                        .name = "mi.dll",
                                        .functions = {"MI_Application_InitializeV1"},
                                        .advice = "This edition of Windows has no WMI client library"};

/* ---- One part. ---- */

/* What is being looked at. */
struct look {
  struct csi_ctx *ctx;
  const struct csi_parts_hosts *hosts;
  const struct csi_parts_options *options;
  _Atomic(const char *) *at;
  struct csi_group_parts *groups;
};

/* Any service will do: that there is none of that name is an answer, too. */
static bool check_services(const struct csi_system_host *system, struct csi_ctx *ctx) {
  struct csi_service_status status;
  if (system->get_status(system->self, ctx, "csiproxy", &status)) return true;
  if (ctx->status.number != CSI_SERVICE_DOES_NOT_EXIST) return false;
  csi_status_clear(&ctx->status);
  return true;
}

/* That there are none is an answer as well. */
static bool check_disks(const struct csi_disk_host *disks, struct csi_ctx *ctx) {
  const char **paths;
  size_t count;
  return disks->list(disks->self, ctx, &paths, &count);
}

static bool check(const struct csi_parts_hosts *hosts, struct csi_ctx *ctx,
                  const struct csi_part_spec *part) {
  struct csi_bytes table;
  switch (part->kind) {
  case CSI_PART_DISKS:
    return check_disks(hosts->disks, ctx);
  case CSI_PART_FIRMWARE:
    return hosts->system->get_smbios(hosts->system->self, ctx, &table);
  case CSI_PART_SERVICES:
    return check_services(hosts->system, ctx);
  default:
    return hosts->parts->check(hosts->parts->self, ctx, part);
  }
}

static bool is_unknown_privilege(const struct csi_part_spec *part, const struct csi_status *status) {
  return part->kind == CSI_PART_PRIVILEGE && status->number == CSI_PART_NO_SUCH_PRIVILEGE;
}

static enum csi_part_state state_of(const struct csi_part_spec *part, const struct csi_status *status) {
  if (is_unknown_privilege(part, status)) return CSI_PART_UNKNOWN;
  switch (status->code) {
  case CSI_OK:
    return CSI_PART_PRESENT;
  case CSI_DEADLINE_EXCEEDED:
  case CSI_CANCELLED:
  case CSI_UNAVAILABLE:
  case CSI_RESOURCE_EXHAUSTED:
    return CSI_PART_UNKNOWN;
  case CSI_FAILED_PRECONDITION:
    /* Whoever needs a service that is stopped can start it, and drivers do. */
    return part->kind == CSI_PART_SERVICE ? CSI_PART_PRESENT : CSI_PART_MISSING;
  default:
    return CSI_PART_MISSING;
  }
}

static const char *advice_of(const struct csi_part_spec *part, const struct csi_status *status) {
  if (is_unknown_privilege(part, status)) return NOT_ASKED_FOR;
  return part->lack != NULL && status->number == CSI_SERVICE_DOES_NOT_EXIST ? part->lack : part->advice;
}

static const char *detail_of(struct csi_ctx *ctx, const struct csi_part_spec *part,
                             const struct csi_status *status) {
  if (status->code == CSI_OK) return "";
  char text[CSI_STATUS_TEXT_BYTES];
  size_t length = strlen(status->text);
  while (length > 0 && status->text[length - 1] == '.')
    length--;
  memcpy(text, status->text, length);
  text[length] = '\0';
  const char *detail = csi_arena_printf(ctx->arena, "%s. %s.", text, advice_of(part, status));
  if (detail == NULL) csi_fail_out_of_memory(&ctx->status);
  return detail;
}

static bool add(struct look *look, const struct csi_part_spec *spec, const struct csi_part *part) {
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++) {
    struct csi_group_parts *group = &look->groups[i];
    if (strcmp(group->group, spec->group) != 0) continue;
    struct csi_part *parts =
        csi_list_grow(look->ctx, group->parts, group->count, &group->capacity, sizeof *parts);
    if (parts == NULL) return false;
    group->parts = parts;
    parts[group->count++] = *part;
    if (part->required && part->state != CSI_PART_PRESENT) group->is_ready = false;
  }
  return true;
}

/* Gives every part a status and a time limit of its own. */
static bool look_at(struct look *look, const struct csi_part_spec *spec, struct csi_part *part_out) {
  struct csi_ctx one = *look->ctx;
  int64_t limit_ns = csi_now_ns() + PART_MS * NS_PER_MS;
  if (one.deadline_ns > limit_ns) one.deadline_ns = limit_ns;
  csi_status_clear(&one.status);
  atomic_store(look->at, spec->name);
  if (csi_ctx_alive(&one)) (void)check(look->hosts, &one, spec);
  *part_out = (struct csi_part){
      .name = csi_arena_strdup(one.arena, spec->name),
      .state = state_of(spec, &one.status),
      .required = spec->required && !is_unknown_privilege(spec, &one.status),
      .detail = detail_of(look->ctx, spec, &one.status),
  };
  if (part_out->name == NULL) return csi_fail_out_of_memory(&look->ctx->status);
  return part_out->detail != NULL;
}

static bool look_and_add(struct look *look, const struct csi_part_spec *spec) {
  struct csi_part part;
  return look_at(look, spec, &part) && add(look, spec, &part);
}

/* ---- All parts. ---- */

/* The kubelet makes its directory when it first starts, so that a missing one does not make a node unready.
 */
static bool look_at_directories(struct look *look) {
  for (size_t i = 0; i < look->options->working_dir_count; i++) {
    const struct csi_part_spec spec = {
        .group = "filesystem",
        .kind = CSI_PART_DIRECTORY,
        .name = look->options->working_dirs[i],
        .advice =
            "The kubelet makes its own when it first starts; otherwise check -kubelet-path and -working-dir",
    };
    if (!look_and_add(look, &spec)) return false;
  }
  return true;
}

/* Neither way is open: one part for both, and one advice. */
static bool add_neither(struct look *look, const struct csi_part *by_wnet, const struct csi_part *by_mi) {
  bool is_unknown = by_wnet->state == CSI_PART_UNKNOWN || by_mi->state == CSI_PART_UNKNOWN;
  const struct csi_part both = {
      .name = "mpr.dll or mi.dll",
      .state = is_unknown ? CSI_PART_UNKNOWN : CSI_PART_MISSING,
      .required = true,
      .detail = csi_arena_printf(look->ctx->arena, "%s %s One of the two is enough.", by_wnet->detail,
                                 by_mi->detail),
  };
  return both.detail != NULL ? add(look, &wnet, &both) : csi_fail_out_of_memory(&look->ctx->status);
}

/* With -smb-route=auto, one of the two ways is enough. */
static bool look_at_routes(struct look *look) {
  struct csi_part by_wnet, by_mi;
  enum csi_smb_route route = look->options->route;
  if (!look_at(look, &wnet, &by_wnet) || !look_at(look, &mi, &by_mi)) return false;
  bool has_wnet = by_wnet.state == CSI_PART_PRESENT, has_mi = by_mi.state == CSI_PART_PRESENT;
  if (route == CSI_SMB_ROUTE_AUTO && !has_wnet && !has_mi) return add_neither(look, &by_wnet, &by_mi);
  by_wnet.required = route == CSI_SMB_ROUTE_WNET || (route == CSI_SMB_ROUTE_AUTO && !has_mi);
  by_mi.required = route == CSI_SMB_ROUTE_MI || (route == CSI_SMB_ROUTE_AUTO && !has_wnet);
  return add(look, &wnet, &by_wnet) && add(look, &mi, &by_mi);
}

bool csi_parts_look(struct csi_ctx *ctx, const struct csi_parts_hosts *hosts,
                    const struct csi_parts_options *options, _Atomic(const char *) *at_out,
                    struct csi_group_parts groups_out[CSI_PARTS_GROUPS]) {
  struct look look = {.ctx = ctx, .hosts = hosts, .options = options, .at = at_out, .groups = groups_out};
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++)
    groups_out[i] = (struct csi_group_parts){
        .group = groups[i].name, .is_ready = true, .is_required = groups[i].is_required};
  if (!look_at_directories(&look) || !look_at_routes(&look)) return false;
  for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
    if (!look_and_add(&look, &specs[i])) return false;
  return true;
}

bool csi_parts_unknown(struct csi_ctx *ctx, const char *why,
                       struct csi_group_parts groups_out[CSI_PARTS_GROUPS]) {
  for (size_t i = 0; i < CSI_PARTS_GROUPS; i++) {
    struct csi_part *part = csi_arena_alloc(ctx->arena, sizeof *part);
    if (part == NULL) return csi_fail_out_of_memory(&ctx->status);
    *part =
        (struct csi_part){.name = "all parts", .state = CSI_PART_UNKNOWN, .required = true, .detail = why};
    groups_out[i] = (struct csi_group_parts){.group = groups[i].name,
                                             .is_required = groups[i].is_required,
                                             .parts = part,
                                             .count = 1,
                                             .capacity = 1};
  }
  return true;
}
