/* SPDX-License-Identifier: Apache-2.0 */
#include "open.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "record.h"
#include "reparse_data.h"
#include "volume.h"
#include "win32/handle.h"

enum {
  LINKS_MAX = 63, /* as many as Windows follows */
  PATH_UNITS = CSI_NT_PATH_UNITS_MAX + 1,
  NT_PREFIX_UNITS = 4, /* `\??\` */
  DRIVE_UNITS = NT_PREFIX_UNITS + 2,
  SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
  OBJECT_NAME_CLASS = 1,
};

#define STATUS_OUT_OF_MEMORY ((NTSTATUS)0xC0000017)
#define STATUS_OBJECT_NAME_INVALID ((NTSTATUS)0xC0000033)
#define STATUS_OBJECT_NAME_NOT_FOUND ((NTSTATUS)0xC0000034)
#define STATUS_OBJECT_PATH_NOT_FOUND ((NTSTATUS)0xC000003A)
/* Within this file: the route has got another path, with which to begin anew. */
#define GO_ON ((NTSTATUS)0x00000104)

/* The arguments of the call. */
struct call {
  HANDLE *handle_out;
  ACCESS_MASK mask;
  OBJECT_ATTRIBUTES *attributes;
  IO_STATUS_BLOCK *io;
  LARGE_INTEGER *allocation_bytes;
  ULONG file_attributes, share, disposition, options;
  void *ea;
  ULONG ea_bytes;
};

struct path {
  size_t units;
  wchar_t text_w[PATH_UNITS];
};

/* How far a name has been followed. */
struct route {
  const struct call *call;
  HANDLE root;       /* what path counts from; NULL: it is absolute */
  struct path *path; /* not yet followed */
  struct path *next;
  struct path paths[2];
  uint8_t name[LINKS_NAME_BYTES] __attribute__((aligned(8)));
  struct links_record record;
};

NTSTATUS links_query_name(HANDLE handle, void *buffer, UNICODE_STRING *name_out) {
  ULONG needed_bytes;
  NTSTATUS status = NtQueryObject(handle, (OBJECT_INFORMATION_CLASS)OBJECT_NAME_CLASS, buffer,
                                  LINKS_NAME_BYTES, &needed_bytes);
  if (NT_SUCCESS(status)) memcpy(name_out, buffer, sizeof *name_out);
  return status;
}

/* Makes the call itself, for the part of the name that has nothing to follow in it. */
static NTSTATUS open_really(const struct call *call, HANDLE root, const wchar_t *name_w, size_t units) {
  OBJECT_ATTRIBUTES attributes = *call->attributes;
  UNICODE_STRING name = csi_unicode_string(name_w, units);
  attributes.RootDirectory = root;
  attributes.ObjectName = &name;
  return NtCreateFile(call->handle_out, call->mask, &attributes, call->io, call->allocation_bytes,
                      call->file_attributes, call->share, call->disposition, call->options, call->ea,
                      call->ea_bytes);
}

/* Opens an entry itself to see what it is; meets no sharing violation. */
static NTSTATUS look(const struct route *route, HANDLE root, const wchar_t *name_w, size_t units,
                     HANDLE *handle_out) {
  UNICODE_STRING name = csi_unicode_string(name_w, units);
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name, route->call->attributes->Attributes & OBJ_CASE_INSENSITIVE,
                             root, NULL);
  IO_STATUS_BLOCK io;
  return NtCreateFile(handle_out, FILE_READ_ATTRIBUTES | SYNCHRONIZE, &attributes, &io, NULL, 0, SHARE_ALL,
                      FILE_OPEN, FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT, NULL, 0);
}

static bool append(struct path *path, const wchar_t *text_w, size_t units) {
  if (units > CSI_NT_PATH_UNITS_MAX - path->units) return false;
  wmemcpy(path->text_w + path->units, text_w, units);
  path->units += units;
  return true;
}

/* Resolves `.` and `..` behind the first root_units, in place. Nothing is above a root. */
static void fold_dots(struct path *path, size_t root_units) {
  size_t end = root_units, at = root_units;
  while (at < path->units) {
    size_t part = at + wcsspn(path->text_w + at, L"\\"); /* ends in a NUL, see follow() */
    size_t units = wcscspn(path->text_w + part, L"\\");
    const wchar_t *part_w = path->text_w + part;
    at = part + units;
    if (units == 0 || (units == 1 && part_w[0] == '.')) continue;
    if (units == 2 && part_w[0] == '.' && part_w[1] == '.') {
      while (end > root_units && path->text_w[--end] != '\\')
        continue;
      continue;
    }
    path->text_w[end++] = '\\';
    wmemmove(path->text_w + end, part_w, units);
    end += units;
  }
  path->units = end;
}

/* Puts what a relative target counts from into route->next. */
static NTSTATUS append_base(struct route *route, HANDLE link, const struct links_target *target) {
  UNICODE_STRING name;
  NTSTATUS status = links_query_name(link, route->name, &name);
  if (!NT_SUCCESS(status)) return status;
  size_t units = name.Length / sizeof(wchar_t);
  if (target->name_w[0] == '\\')
    units = links_volume_root_units(name.Buffer, units);
  else
    while (units > 0 && name.Buffer[units - 1] != '\\')
      units--;
  return append(route->next, name.Buffer, units) ? CSI_STATUS_SUCCESS : STATUS_OBJECT_NAME_INVALID;
}

/* Makes the path that a link leads to the one to go on with. rest_w: what comes behind the link. */
static NTSTATUS follow(struct route *route, HANDLE link, const wchar_t *rest_w, size_t rest_units) {
  if ((route->call->attributes->Attributes & OBJ_DONT_REPARSE) != 0) return LINKS_STATUS_LINK_ENCOUNTERED;
  NTSTATUS status = links_record_read(link, &route->record);
  if (!NT_SUCCESS(status)) return status;
  struct links_target target;
  if (!links_find_target(route->record.bytes, &target)) return LINKS_STATUS_NOT_HANDLED;
  struct path *next = route->next;
  next->units = 0;
  if (target.relative) status = append_base(route, link, &target);
  if (!NT_SUCCESS(status)) return status;
  if (!append(next, target.name_w, target.units) ||
      (rest_units > 0 && (!append(next, L"\\", 1) || !append(next, rest_w, rest_units))))
    return STATUS_OBJECT_NAME_INVALID;
  next->text_w[next->units] = '\0';
  if (target.relative) fold_dots(next, links_volume_root_units(next->text_w, next->units));
  route->next = route->path;
  route->path = next;
  route->root = NULL;
  return GO_ON;
}

/* GO_ON if the entry is an emulated link, which has then been followed. */
static NTSTATUS follow_if_link(struct route *route, HANDLE entry, const wchar_t *rest_w, size_t rest_units) {
  ULONG tag;
  NTSTATUS status = links_record_read_tag(entry, &tag);
  if (NT_SUCCESS(status)) return follow(route, entry, rest_w, rest_units);
  return status == LINKS_STATUS_NOT_A_REPARSE_POINT ? CSI_STATUS_SUCCESS : status;
}

static bool is_directory(HANDLE entry) {
  FILE_STANDARD_INFORMATION standard;
  IO_STATUS_BLOCK io;
  return NT_SUCCESS(
             NtQueryInformationFile(entry, &io, &standard, sizeof standard, FileStandardInformation)) &&
         standard.Directory;
}

/* A component of a path: from `at` to `end`; the next one begins at `rest`, if there is one. */
struct part {
  size_t at, end, rest;
};

static struct part part_from(const struct path *path, size_t at) {
  struct part part = {.at = at};
  while (part.at < path->units && path->text_w[part.at] == '\\')
    part.at++;
  part.end = part.at;
  while (part.end < path->units && path->text_w[part.end] != '\\')
    part.end++;
  part.rest = part.end;
  while (part.rest < path->units && path->text_w[part.rest] == '\\')
    part.rest++;
  return part;
}

/* Goes down from directory, which it closes unless it is the caller's own, by what route->path has at `at`,
 * which is one component or more. */
static NTSTATUS walk(struct route *route, HANDLE directory, size_t at) {
  const wchar_t *text_w = route->path->text_w;
  size_t units = route->path->units;
  bool opens_links = (route->call->options & FILE_OPEN_REPARSE_POINT) != 0;
  CSI_SCOPED_HANDLE ours = directory == route->root ? NULL : directory;
  for (;;) {
    struct part part = part_from(route->path, at);
    bool last = part.rest == units;
    if (last && opens_links) return open_really(route->call, directory, text_w + part.at, units - part.at);
    CSI_SCOPED_HANDLE child = NULL;
    NTSTATUS status = look(route, directory, text_w + part.at, part.end - part.at, &child);
    if (NT_SUCCESS(status)) {
      NTSTATUS followed = follow_if_link(route, child, text_w + part.rest, units - part.rest);
      if (followed != CSI_STATUS_SUCCESS) return followed;
    }
    if (last) return open_really(route->call, directory, text_w + part.at, units - part.at);
    if (status == STATUS_OBJECT_NAME_NOT_FOUND || status == CSI_STATUS_NO_SUCH_FILE)
      return STATUS_OBJECT_PATH_NOT_FOUND;
    if (!NT_SUCCESS(status)) return status;
    if (!is_directory(child)) return STATUS_OBJECT_PATH_NOT_FOUND;
    csi_handle_close(&ours);
    ours = directory = child;
    child = NULL;
    at = part.rest;
  }
}

static bool begins_in_volume(const struct path *path) {
  size_t volume_end = NT_PREFIX_UNITS + LINKS_VOLUME_NAME_UNITS;
  return path->units > volume_end && path->text_w[volume_end] == '\\' &&
         links_is_volume_name(path->text_w + NT_PREFIX_UNITS, LINKS_VOLUME_NAME_UNITS);
}

/* Replaces the volume that an absolute path begins with by the directory that stands for it. */
static NTSTATUS enter_volume(struct route *route) {
  struct path *path = route->path, *next = route->next;
  wchar_t directory_w[LINKS_VOLUME_PATH_UNITS];
  size_t name_end = NT_PREFIX_UNITS + LINKS_VOLUME_NAME_UNITS;
  NTSTATUS status = links_volume_directory(path->text_w + NT_PREFIX_UNITS, directory_w);
  if (status == LINKS_STATUS_NO_SUCH_VOLUME) return CSI_STATUS_SUCCESS; /* the system will say it */
  if (!NT_SUCCESS(status)) return status;
  next->units = 0;
  if (!append(next, directory_w, wcslen(directory_w)) ||
      !append(next, path->text_w + name_end, path->units - name_end))
    return STATUS_OBJECT_NAME_INVALID;
  route->path = next;
  route->next = path;
  return CSI_STATUS_SUCCESS;
}

static bool begins_in_drive(const struct path *path) {
  return path->units > DRIVE_UNITS && path->text_w[DRIVE_UNITS - 1] == ':' &&
         path->text_w[DRIVE_UNITS] == '\\';
}

static NTSTATUS walk_absolute(struct route *route) {
  bool known =
      route->path->units > NT_PREFIX_UNITS && wcsncmp(route->path->text_w, L"\\??\\", NT_PREFIX_UNITS) == 0;
  NTSTATUS status = known && begins_in_volume(route->path) ? enter_volume(route) : CSI_STATUS_SUCCESS;
  if (!NT_SUCCESS(status)) return status;
  const struct path *path = route->path;
  if (!known || !begins_in_drive(path)) return open_really(route->call, NULL, path->text_w, path->units);
  size_t root_units = links_volume_root_units(path->text_w, path->units) + 1; /* with the backslash */
  if (root_units >= path->units || part_from(path, root_units).at == path->units)
    return open_really(route->call, NULL, path->text_w, root_units < path->units ? root_units : path->units);
  HANDLE root;
  status = look(route, NULL, path->text_w, root_units, &root);
  if (!NT_SUCCESS(status))
    return status == STATUS_OBJECT_NAME_NOT_FOUND ? STATUS_OBJECT_PATH_NOT_FOUND : status;
  return walk(route, root, root_units);
}

static NTSTATUS walk_relative(struct route *route) {
  const struct path *path = route->path;
  NTSTATUS status = follow_if_link(route, route->root, path->text_w, path->units);
  return NT_SUCCESS(status) && status != GO_ON ? walk(route, route->root, 0) : status;
}

static NTSTATUS follow_all(struct route *route) {
  NTSTATUS status = GO_ON;
  for (unsigned links = 0; status == GO_ON && links <= LINKS_MAX; links++)
    status = route->root != NULL ? walk_relative(route) : walk_absolute(route);
  return status == GO_ON ? LINKS_STATUS_NOT_RESOLVED : status;
}

NTSTATUS NTAPI links_create_file(PHANDLE handle_out, ACCESS_MASK mask, POBJECT_ATTRIBUTES attributes,
                                 PIO_STATUS_BLOCK io, PLARGE_INTEGER allocation_bytes, ULONG file_attributes,
                                 ULONG share, ULONG disposition, ULONG options, PVOID ea, ULONG ea_bytes) {
  struct call call = {handle_out, mask,        attributes, io, allocation_bytes, file_attributes,
                      share,      disposition, options,    ea, ea_bytes};
  const UNICODE_STRING *name = attributes->ObjectName;
  size_t units = name == NULL ? 0 : name->Length / sizeof(wchar_t);
  /* Without a name, it is to open the same once more. */
  if (units == 0 || units > CSI_NT_PATH_UNITS_MAX || (options & FILE_OPEN_BY_FILE_ID) != 0)
    return NtCreateFile(handle_out, mask, attributes, io, allocation_bytes, file_attributes, share,
                        disposition, options, ea, ea_bytes);
  struct route *route = malloc(sizeof *route);
  if (route == NULL) return STATUS_OUT_OF_MEMORY;
  route->call = &call;
  route->root = attributes->RootDirectory;
  route->path = &route->paths[0];
  route->next = &route->paths[1];
  route->path->units = 0;
  append(route->path, name->Buffer, units);
  NTSTATUS status = follow_all(route);
  free(route);
  return status;
}
