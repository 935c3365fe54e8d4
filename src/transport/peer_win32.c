/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is at the other end of a pipe. The container is found by its job object: the host compute service names
 * those of process-isolated containers \Container_<id>, and containerd's shim those of HostProcess containers
 * JobContainer_<id>. Whether a process belongs to a job is documented (IsProcessInJob, nested jobs included);
 * the names are not, but network plug-ins rely on them.
 *
 * The names only claim: who may create objects there and start a process in them can give it any id; who
 * makes very many objects can hide one (MAX_OBJECTS, MAX_JOBS).
 *
 * UNVERIFIED ON WINDOWS: the names, that a service may list and open these jobs, that a listing's context is
 * an index, and that a process of a container is known by its host's number at the pipe. When any of it does
 * not hold, the container is "".
 */
#include <winsock2.h>

#include <windows.h>

#include <sddl.h>
#include <stdio.h>
#include <string.h>
#include <winternl.h>

#include "transport/pipe_win32.h"
#include "win32/process_image.h"

enum {
  DIRECTORY_QUERY = 0x0001,
  LIST_BYTES = 8 * 1024,
  MAX_OBJECTS = 4096, /* looked at in one directory; a node has a few hundred */
  MAX_JOBS = 256,     /* opened in one directory; a node runs a few dozen containers */
  ID_UNITS = 128,     /* of a container's id; containerd's have 64 characters */
  NAME_UNITS = ID_UNITS + 32,
  SID_TEXT_BYTES = 192, /* "S-1-", 15 parts of up to 10 digits, dashes */
};

static const NTSTATUS NOT_IMPLEMENTED = (NTSTATUS)0xC0000002;
static const NTSTATUS BUFFER_TOO_SMALL = (NTSTATUS)0xC0000023;

/* winternl.h of mingw-w64 does not have these. */
struct directory_entry {
  UNICODE_STRING name, type;
};

NTSTATUS NTAPI NtOpenDirectoryObject(HANDLE *directory, ACCESS_MASK access, OBJECT_ATTRIBUTES *attributes);
NTSTATUS NTAPI NtQueryDirectoryObject(HANDLE directory, void *buffer, ULONG buffer_bytes, BOOLEAN single,
                                      BOOLEAN restart, ULONG *context, ULONG *length);
NTSTATUS NTAPI NtOpenJobObject(HANDLE *job, ACCESS_MASK access, OBJECT_ATTRIBUTES *attributes);

static UNICODE_STRING string_of(wchar_t *text_w) {
  const USHORT bytes = (USHORT)(wcslen(text_w) * sizeof *text_w);
  return (UNICODE_STRING){.Length = bytes, .MaximumLength = bytes, .Buffer = text_w};
}

/* True when the process belongs to the job of that name. */
static bool is_in_job(HANDLE process, HANDLE directory, const UNICODE_STRING *name) {
  UNICODE_STRING copy = *name;
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &copy, 0, directory, NULL);
  HANDLE job;
  if (NtOpenJobObject(&job, JOB_OBJECT_QUERY, &attributes) < 0) return false;
  BOOL inside = FALSE;
  const bool known = IsProcessInJob(process, job, &inside);
  CloseHandle(job);
  return known && inside;
}

/* Letters, digits, dots, dashes and underscores; anything else would be read as a part of the peer's text. */
static void copy_id(const wchar_t *id_w, size_t units, char *id, size_t size_bytes) {
  size_t length = 0;
  for (; length < units && length + 1 < size_bytes; length++) {
    const wchar_t unit = id_w[length];
    const bool plain = (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'z') ||
                       (unit >= 'A' && unit <= 'Z') || unit == '.' || unit == '-';
    id[length] = plain ? (char)unit : '_';
  }
  id[length] = '\0';
}

static bool is_candidate(const struct directory_entry *entry, const wchar_t *prefix_w, size_t prefix_units) {
  const size_t units = entry->name.Length / sizeof(wchar_t);
  return entry->type.Length == 3 * sizeof(wchar_t) &&
         memcmp(entry->type.Buffer, L"Job", entry->type.Length) == 0 && units > prefix_units &&
         units <= NAME_UNITS && memcmp(entry->name.Buffer, prefix_w, prefix_units * sizeof(wchar_t)) == 0;
}

/* How much more of a directory may be looked at. */
struct budget {
  unsigned objects, jobs;
};

/* Looks at one part of a directory's list, which ends with an empty entry. */
static bool find_in_list(HANDLE process, HANDLE directory, const struct directory_entry *entry,
                         const wchar_t *prefix_w, struct budget *budget, char *id, size_t size_bytes) {
  const size_t prefix_units = wcslen(prefix_w);
  for (; entry->name.Buffer && budget->objects > 0 && budget->jobs > 0; entry++) {
    budget->objects--;
    if (!is_candidate(entry, prefix_w, prefix_units)) continue;
    budget->jobs--;
    if (!is_in_job(process, directory, &entry->name)) continue;
    copy_id(entry->name.Buffer + prefix_units, entry->name.Length / sizeof(wchar_t) - prefix_units, id,
            size_bytes);
    return true;
  }
  return false;
}

/* A directory's objects, part by part. */
struct listing {
  HANDLE directory;
  bool restart, single; /* Wine lists one object at a time only */
  ULONG context;        /* index of the next object */
  union {
    struct directory_entry entries[LIST_BYTES / sizeof(struct directory_entry)];
    uint8_t bytes[LIST_BYTES];
  } part;
};

static NTSTATUS query(struct listing *listing) {
  ULONG length = 0;
  memset(&listing->part.entries[0], 0, sizeof listing->part.entries[0]);
  return NtQueryDirectoryObject(listing->directory, &listing->part, sizeof listing->part, listing->single,
                                listing->restart, &listing->context, &length);
}

/* Reads the next part, which is empty where an object's name is too long for it: that one is passed over.
 * False at the end. */
static bool next_part(struct listing *listing) {
  const ULONG before = listing->context;
  NTSTATUS status = query(listing);
  if (status == NOT_IMPLEMENTED && !listing->single) {
    listing->single = true;
    status = query(listing);
  }
  listing->restart = false;
  if (status < 0 && status != BUFFER_TOO_SMALL) return false;
  if (status < 0) listing->part.entries[0].name.Buffer = NULL;
  if (listing->context == before) listing->context++;
  return true;
}

/* Finds the job with such a name, in one directory of the object manager, that the process belongs to. */
static bool find_job(HANDLE process, const wchar_t *directory_w, const wchar_t *prefix_w, char *id,
                     size_t size_bytes) {
  UNICODE_STRING name = string_of((wchar_t *)directory_w);
  OBJECT_ATTRIBUTES attributes;
  InitializeObjectAttributes(&attributes, &name, 0, NULL, NULL);
  struct listing listing = {.restart = true};
  if (NtOpenDirectoryObject(&listing.directory, DIRECTORY_QUERY, &attributes) < 0) return false;
  bool found = false;
  struct budget budget = {MAX_OBJECTS, MAX_JOBS};
  while (!found && budget.objects > 0 && budget.jobs > 0 && next_part(&listing)) {
    budget.objects--; /* also for a part with none */
    found = find_in_list(process, listing.directory, listing.part.entries, prefix_w, &budget, id, size_bytes);
  }
  CloseHandle(listing.directory);
  return found;
}

void csi_process_container(HANDLE process, char *id, size_t size_bytes) {
  BOOL in_a_job = FALSE;
  id[0] = '\0';
  if (!IsProcessInJob(process, NULL, &in_a_job) || !in_a_job) return;
  if (find_job(process, L"\\", L"Container_", id, size_bytes)) return;
  (void)find_job(process, L"\\BaseNamedObjects", L"JobContainer_", id, size_bytes);
}

/* The SID of the process's user; a name for it could mean asking a domain. */
static void process_account(HANDLE process, char *sid, size_t size_bytes) {
  union {
    TOKEN_USER user;
    uint8_t bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  } buffer;
  HANDLE token;
  DWORD length;
  char *text = NULL;
  sid[0] = '\0';
  if (!OpenProcessToken(process, TOKEN_QUERY, &token)) return;
  if (GetTokenInformation(token, TokenUser, &buffer, sizeof buffer, &length) &&
      ConvertSidToStringSidA(buffer.user.User.Sid, &text)) {
    snprintf(sid, size_bytes, "%s", text);
    LocalFree(text);
  }
  CloseHandle(token);
}

void csi_pipe_peer_text(HANDLE pipe, char *text, size_t size_bytes) {
  char image_path[1024], account[SID_TEXT_BYTES] = "", container[ID_UNITS + 1] = "";
  char session[16] = "";
  ULONG process_id = 0, session_id = 0;
  GetNamedPipeClientProcessId(pipe, &process_id);
  if (GetNamedPipeClientSessionId(pipe, &session_id))
    snprintf(session, sizeof session, "%u", (unsigned)session_id);
  csi_process_image_path(process_id, image_path, sizeof image_path);
  HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, process_id);
  if (process) {
    process_account(process, account, sizeof account);
    csi_process_container(process, container, sizeof container);
    CloseHandle(process);
  }
  snprintf(text, size_bytes, "pipe:%u:%s:%s:%s:%s", (unsigned)process_id, session, account, container,
           image_path);
}
