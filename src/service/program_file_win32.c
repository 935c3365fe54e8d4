/* SPDX-License-Identifier: Apache-2.0 */
#include "service/program_file_win32.h"

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "win32/handle.h"

enum {
  PATH_UNITS = 32768,
  BLOCK_BYTES = 64 * 1024,
  OLD_NAMES = 10,
  RETRY_MS = 100,
  RETRY_MS_MAX = 5000,
};

/* UNVERIFIED ON WINDOWS, since Wine does not enforce it. Inherited by what is made in it. Below C:\ anybody
 * who is logged on could otherwise make files. */
#define DIRECTORY_SDDL L"D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1200a9;;;BU)"

static bool fail(const char *call, const char *path, DWORD error, struct csi_status *status) {
  csi_fail_system(status, CSI_SPACE_WIN32, error, call, "%s", path);
  return error == ERROR_ACCESS_DENIED && csi_advise(status, "; run this as administrator");
}

static wchar_t *wide(struct csi_arena *arena, const char *path, const char *suffix,
                     struct csi_status *status) {
  char *whole = csi_arena_printf(arena, "%s%s", path, suffix);
  if (whole != NULL) return csi_utf16_from_utf8(arena, whole, strlen(whole), NULL, status);
  csi_fail_out_of_memory(status);
  return NULL;
}

char *csi_program_file_own(struct csi_arena *arena, struct csi_status *status) {
  wchar_t *path_w = csi_arena_alloc_array(arena, PATH_UNITS, sizeof *path_w);
  DWORD units = path_w == NULL ? 0 : GetModuleFileNameW(NULL, path_w, PATH_UNITS);
  char *path = units == 0 || units >= PATH_UNITS ? NULL : csi_utf8_from_utf16(arena, path_w, units);
  if (path == NULL) csi_fail(status, CSI_INTERNAL, "cannot find out this program's own path");
  return path;
}

char *csi_program_file_absolute(struct csi_arena *arena, const char *path, struct csi_status *status) {
  wchar_t *given_w = wide(arena, path, "", status);
  wchar_t *path_w = csi_arena_alloc_array(arena, PATH_UNITS, sizeof *path_w);
  if (given_w == NULL || path_w == NULL) {
    csi_fail_out_of_memory(status);
    return NULL;
  }
  DWORD units = GetFullPathNameW(given_w, PATH_UNITS, path_w, NULL);
  if (units == 0 || units >= PATH_UNITS) {
    fail("GetFullPathNameW", path, units == 0 ? GetLastError() : ERROR_FILENAME_EXCED_RANGE, status);
    return NULL;
  }
  char *absolute = csi_utf8_from_utf16(arena, path_w, units);
  if (absolute == NULL) csi_fail_out_of_memory(status);
  return absolute;
}

bool csi_program_file_exists(struct csi_arena *arena, const char *path) {
  struct csi_status ignored = {0};
  wchar_t *path_w = wide(arena, path, "", &ignored);
  DWORD attributes = path_w == NULL ? INVALID_FILE_ATTRIBUTES : GetFileAttributesW(path_w);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
}

/* -- Comparing -------------------------------------------------------------------------------------- */

/* NULL with ERROR_FILE_NOT_FOUND or ERROR_PATH_NOT_FOUND as last error: there is none. */
static HANDLE open_to_read(const wchar_t *path_w) {
  HANDLE file = CreateFileW(path_w, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                            FILE_FLAG_SEQUENTIAL_SCAN, NULL);
  return file == INVALID_HANDLE_VALUE ? NULL : file;
}

static bool compare_contents(HANDLE file, HANDLE other, BYTE *blocks, bool *same_out) {
  for (;;) {
    DWORD bytes = 0, other_bytes = 0;
    if (!ReadFile(file, blocks, BLOCK_BYTES, &bytes, NULL) ||
        !ReadFile(other, blocks + BLOCK_BYTES, BLOCK_BYTES, &other_bytes, NULL))
      return false;
    *same_out = bytes == other_bytes && memcmp(blocks, blocks + BLOCK_BYTES, bytes) == 0;
    if (!*same_out || bytes == 0) return true;
  }
}

bool csi_program_file_compare(struct csi_arena *arena, const char *path, const char *other, bool *same_out,
                              struct csi_status *status) {
  *same_out = false;
  wchar_t *path_w = wide(arena, path, "", status), *other_w = wide(arena, other, "", status);
  BYTE *blocks = csi_arena_alloc(arena, 2 * BLOCK_BYTES);
  if (path_w == NULL || other_w == NULL || blocks == NULL) return csi_fail_out_of_memory(status);
  const wchar_t *const paths_w[] = {path_w, other_w};
  CSI_SCOPED_HANDLE file = NULL;
  CSI_SCOPED_HANDLE other_file = NULL;
  HANDLE *const files[] = {&file, &other_file};
  for (size_t i = 0; i < 2; i++) {
    *files[i] = open_to_read(paths_w[i]);
    if (*files[i] != NULL) continue;
    DWORD error = GetLastError();
    if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return true;
    return fail("CreateFileW", i == 0 ? path : other, error, status);
  }
  return compare_contents(file, other_file, blocks, same_out) ||
         fail("ReadFile", path, GetLastError(), status);
}

/* -- Directories ------------------------------------------------------------------------------------ */

static bool make_one(const wchar_t *path_w, SECURITY_ATTRIBUTES *security) {
  if (CreateDirectoryW(path_w, security)) return true;
  DWORD error = GetLastError();
  if (error == ERROR_ALREADY_EXISTS) return true;
  /* A drive's root cannot be made, and says so in its own way. */
  DWORD attributes = GetFileAttributesW(path_w);
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return true;
  SetLastError(error);
  return false;
}

/* Makes every directory on the way, from the top. */
static bool make_way(const char *path, wchar_t *path_w, size_t units, SECURITY_ATTRIBUTES *security,
                     struct csi_status *status) {
  for (size_t i = 3; i <= units; i++) { /* behind "C:\" */
    wchar_t here_w = path_w[i];
    if (i < units && here_w != L'\\' && here_w != L'/') continue;
    path_w[i] = L'\0';
    bool made = make_one(path_w, security);
    DWORD error = GetLastError();
    path_w[i] = here_w;
    if (!made) return fail("CreateDirectoryW", path, error, status);
  }
  return true;
}

static bool make_directories(struct csi_arena *arena, const char *path, size_t path_bytes,
                             struct csi_status *status) {
  size_t units;
  wchar_t *path_w = csi_utf16_from_utf8(arena, path, path_bytes, &units, status);
  if (path_w == NULL) return false;
  SECURITY_ATTRIBUTES security = {.nLength = sizeof security};
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(DIRECTORY_SDDL, SDDL_REVISION_1,
                                                            &security.lpSecurityDescriptor, NULL))
    return fail("ConvertStringSecurityDescriptorToSecurityDescriptorW", path, GetLastError(), status);
  bool made = make_way(path, path_w, units, &security, status);
  LocalFree(security.lpSecurityDescriptor);
  return made;
}

bool csi_program_file_make_directory(struct csi_arena *arena, const char *path, struct csi_status *status) {
  return make_directories(arena, path, strlen(path), status);
}

bool csi_program_file_make_parent(struct csi_arena *arena, const char *path, struct csi_status *status) {
  size_t bytes = strlen(path);
  while (bytes > 0 && path[bytes - 1] != '\\' && path[bytes - 1] != '/')
    bytes--;
  return bytes == 0 || make_directories(arena, path, bytes - 1, status);
}

/* -- Who may write on the way ----------------------------------------------------------------------- */

/* What lets somebody put another directory in the place of this one, or of one in it. */
#define TAKE_OVER                                                                                            \
  (FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_ATTRIBUTES)
/* What lets somebody add to it: on the way that is harmless, the root of a drive allows it. */
#define ADD (FILE_ADD_FILE | FILE_ADD_SUBDIRECTORY)

static bool is_trusted(PSID sid) {
  static const wchar_t *const trusted_w[] = {
      L"S-1-5-18",
      L"S-1-5-32-544",
      L"S-1-3-0",
      L"S-1-3-4",
      L"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464", /* TrustedInstaller */
  };
  wchar_t *sid_w = NULL;
  if (!ConvertSidToStringSidW(sid, &sid_w)) return false;
  bool trusted = false;
  for (size_t i = 0; i < sizeof trusted_w / sizeof *trusted_w && !trusted; i++)
    trusted = wcscmp(sid_w, trusted_w[i]) == 0;
  LocalFree(sid_w);
  if (trusted) return true;
  /* Whoever runs this is an administrator already. */
  BYTE user[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE] __attribute__((aligned(16)));
  DWORD bytes;
  CSI_SCOPED_HANDLE token = NULL;
  return OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) &&
         GetTokenInformation(token, TokenUser, user, sizeof user, &bytes) &&
         EqualSid(((const TOKEN_USER *)(const void *)user)->User.Sid, sid);
}

/* NULL when nobody else may do what is in mask; else what is wrong. No DACL lets everybody. */
static const char *find_fault(PSID owner, PACL dacl, DWORD mask) {
  if (owner == NULL || !is_trusted(owner)) return "is owned by somebody else than the administrators";
  if (dacl == NULL) return "may be written by everybody";
  for (DWORD i = 0; i < dacl->AceCount; i++) {
    ACCESS_ALLOWED_ACE *ace;
    if (!GetAce(dacl, i, (void **)&ace)) return "has permissions that cannot be read";
    if (ace->Header.AceType != ACCESS_ALLOWED_ACE_TYPE || (ace->Header.AceFlags & INHERIT_ONLY_ACE) != 0)
      continue;
    if ((ace->Mask & mask) != 0 && !is_trusted(&ace->SidStart))
      return "may be written by others than administrators";
  }
  return NULL;
}

/* UNVERIFIED ON WINDOWS: that the directories of a usual system pass. Wine makes owners and permissions of
 * the file system's mode. */
static bool check_directory(const char *path, wchar_t *path_w, bool last, struct csi_status *status) {
  DWORD attributes = GetFileAttributesW(path_w);
  if (attributes == INVALID_FILE_ATTRIBUTES) return true; /* will be made */
  const char *fault = NULL;
  PSID owner = NULL;
  PACL dacl = NULL;
  PSECURITY_DESCRIPTOR descriptor = NULL;
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    fault = "is a link";
  } else {
    DWORD error =
        GetNamedSecurityInfoW(path_w, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                              &owner, NULL, &dacl, NULL, &descriptor);
    if (error != ERROR_SUCCESS) return fail("GetNamedSecurityInfoW", path, error, status);
    fault = find_fault(owner, dacl, last ? TAKE_OVER | ADD : TAKE_OVER);
    LocalFree(descriptor);
  }
  return fault == NULL ||
         csi_fail(status, CSI_FAILED_PRECONDITION, "%s: directory %ls %s", path, path_w, fault);
}

bool csi_program_file_check_parent(struct csi_arena *arena, const char *path, struct csi_status *status) {
  wchar_t *path_w = wide(arena, path, "", status);
  if (path_w == NULL) return false;
  const wchar_t *end_w = wcsrchr(path_w, L'\\');
  for (wchar_t *at_w = path_w; end_w != NULL && at_w <= end_w; at_w++) {
    if (*at_w != L'\\') continue;
    bool root = at_w == path_w + 2; /* "C:\", which keeps its backslash */
    wchar_t behind_w = at_w[root];
    at_w[root] = L'\0';
    bool good = check_directory(path, path_w, at_w == end_w, status);
    at_w[root] = behind_w;
    if (!good) return false;
  }
  return true;
}

/* -- Putting in place ------------------------------------------------------------------------------- */

static bool is_missing(DWORD error) {
  return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
}

static bool exists(const wchar_t *path_w) {
  return GetFileAttributesW(path_w) != INVALID_FILE_ATTRIBUTES;
}

static bool flush(const wchar_t *path_w) {
  CSI_SCOPED_HANDLE file = CreateFileW(path_w, GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
  return file != INVALID_HANDLE_VALUE && FlushFileBuffers(file);
}

static bool is_in_use(DWORD error) {
  return error == ERROR_ACCESS_DENIED || error == ERROR_SHARING_VIOLATION || error == ERROR_USER_MAPPED_FILE;
}

/* What a process that is ending, or a virus scanner, has open for a moment is tried again. */
static bool rename_file(const wchar_t *from_w, const wchar_t *to_w) {
  for (DWORD waited_ms = 0;; waited_ms += RETRY_MS) {
    if (MoveFileExW(from_w, to_w, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH)) return true;
    DWORD error = GetLastError();
    if (waited_ms >= RETRY_MS_MAX || !is_in_use(error)) {
      SetLastError(error);
      return false;
    }
    Sleep(RETRY_MS);
  }
}

/* A file that is not there is success. A read-only one is deleted, too. */
static bool delete_file(const wchar_t *path_w) {
  if (exists(path_w)) SetFileAttributesW(path_w, FILE_ATTRIBUTE_NORMAL);
  return DeleteFileW(path_w) || is_missing(GetLastError());
}

/* The name with number of what stood in target's place. */
static char *old_name(struct csi_arena *arena, const char *target, int number, struct csi_status *status) {
  char *name = number == 0 ? csi_arena_printf(arena, "%s" CSI_PROGRAM_OLD_SUFFIX, target)
                           : csi_arena_printf(arena, "%s" CSI_PROGRAM_OLD_SUFFIX "%d", target, number);
  if (name == NULL) csi_fail_out_of_memory(status);
  return name;
}

/* Deletes what former upgrades have left, as far as it is not in use, and takes the name behind the last that
 * is: so the highest is always the latest. */
static bool make_room(struct csi_arena *arena, struct csi_program_swap *swap, struct csi_status *status) {
  for (int number = OLD_NAMES - 1; number >= 0; number--) {
    char *name = old_name(arena, swap->target, number, status);
    wchar_t *name_w = name == NULL ? NULL : wide(arena, name, "", status);
    if (name_w == NULL) return false;
    if (delete_file(name_w)) {
      swap->old = name;
      continue;
    }
    return swap->old != NULL || fail("DeleteFileW", name, GetLastError(), status);
  }
  return true;
}

bool csi_program_file_recover(struct csi_arena *arena, const char *target, bool *recovered_out,
                              struct csi_status *status) {
  *recovered_out = false;
  wchar_t *target_w = wide(arena, target, "", status);
  if (target_w == NULL) return false;
  for (int number = OLD_NAMES - 1; number >= 0 && !exists(target_w); number--) {
    char *name = old_name(arena, target, number, status);
    wchar_t *name_w = name == NULL ? NULL : wide(arena, name, "", status);
    if (name_w == NULL) return false;
    if (!exists(name_w)) continue;
    if (!rename_file(name_w, target_w)) return fail("MoveFileExW", name, GetLastError(), status);
    *recovered_out = true;
  }
  return true;
}

bool csi_program_file_stage(struct csi_arena *arena, const char *source, const char *target,
                            struct csi_program_swap *out, struct csi_status *status) {
  *out = (struct csi_program_swap){.target = target};
  wchar_t *source_w = wide(arena, source, "", status),
          *new_w = wide(arena, target, CSI_PROGRAM_NEW_SUFFIX, status);
  if (source_w == NULL || new_w == NULL || !make_room(arena, out, status)) return false;
  delete_file(new_w);
  if (!CopyFileW(source_w, new_w, FALSE)) {
    DWORD error = GetLastError();
    DeleteFileW(new_w);
    return fail("CopyFileW", target, error, status);
  }
  SetFileAttributesW(new_w, FILE_ATTRIBUTE_NORMAL); /* a read-only original would stay in the way for ever */
  if (flush(new_w)) return true;
  DWORD error = GetLastError();
  DeleteFileW(new_w);
  return fail("FlushFileBuffers", target, error, status);
}

/* UNVERIFIED ON WINDOWS: that the image of a process that hangs while it ends may be renamed. */
bool csi_program_file_swap(struct csi_arena *arena, struct csi_program_swap *swap,
                           struct csi_status *status) {
  wchar_t *target_w = wide(arena, swap->target, "", status),
          *new_w = wide(arena, swap->target, CSI_PROGRAM_NEW_SUFFIX, status),
          *old_w = wide(arena, swap->old, "", status);
  if (target_w == NULL || new_w == NULL || old_w == NULL) return false;
  swap->had_old = exists(target_w);
  if (swap->had_old && !rename_file(target_w, old_w))
    return fail("MoveFileExW", swap->target, GetLastError(), status);
  swap->done = rename_file(new_w, target_w);
  if (swap->done) return true;
  DWORD error = GetLastError();
  if (swap->had_old) rename_file(old_w, target_w);
  return fail("MoveFileExW", swap->target, error, status);
}

/* The image of a process that has not quite ended can be neither deleted nor replaced, but renamed. */
bool csi_program_file_swap_back(struct csi_arena *arena, struct csi_program_swap *swap,
                                struct csi_status *status) {
  if (!swap->done) return true;
  wchar_t *target_w = wide(arena, swap->target, "", status),
          *new_w = wide(arena, swap->target, CSI_PROGRAM_NEW_SUFFIX, status),
          *old_w = wide(arena, swap->old, "", status);
  if (target_w == NULL || old_w == NULL || new_w == NULL) return false;
  if (exists(target_w) && !rename_file(target_w, new_w))
    return fail("MoveFileExW", swap->target, GetLastError(), status);
  if (swap->had_old && !rename_file(old_w, target_w))
    return fail("MoveFileExW", swap->old, GetLastError(), status);
  swap->done = false;
  delete_file(new_w); /* if it is still in use, the next upgrade does it */
  return true;
}

static bool delete_one(struct csi_arena *arena, const char *path, struct csi_status *status) {
  wchar_t *path_w = wide(arena, path, "", status);
  if (path_w == NULL) return false;
  for (DWORD waited_ms = 0; !delete_file(path_w); waited_ms += RETRY_MS) {
    DWORD error = GetLastError();
    if (waited_ms >= RETRY_MS_MAX || !is_in_use(error)) return fail("DeleteFileW", path, error, status);
    Sleep(RETRY_MS);
  }
  return true;
}

bool csi_program_file_delete(struct csi_arena *arena, const char *target, struct csi_status *status) {
  char *new_program = csi_arena_printf(arena, "%s" CSI_PROGRAM_NEW_SUFFIX, target);
  if (new_program == NULL) return csi_fail_out_of_memory(status);
  bool deleted = delete_one(arena, target, status) && delete_one(arena, new_program, status);
  for (int number = 0; deleted && number < OLD_NAMES; number++) {
    char *name = old_name(arena, target, number, status);
    deleted = name != NULL && delete_one(arena, name, status);
  }
  return deleted;
}
