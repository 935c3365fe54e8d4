/* SPDX-License-Identifier: Apache-2.0 */
#include "share_folders.h"

#include <windows.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "shares.h"

enum {
  PATH_UNITS = 2 * MAX_PATH + NETWORK_ROOT_BYTES,
};

/* Where folders are: those within reach, and the others. */
struct places {
  wchar_t reach_w[PATH_UNITS];
  wchar_t hidden_w[PATH_UNITS];
};

/* Wine's own name for where something is. */
typedef char *(__cdecl *get_unix_name)(const wchar_t *path_w);

/* `\\?\unix/.../dosdevices/unc`, with backslashes: the folder in which C: is a link. */
static bool find_reach(wchar_t reach_w[PATH_UNITS]) {
  union {
    FARPROC found;
    get_unix_name call;
  } unix_name = {.found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "wine_get_unix_file_name")};
  char *drive = unix_name.found == NULL ? NULL : unix_name.call(L"C:\\");
  char *end = drive == NULL ? NULL : strstr(drive, "/c:");
  if (end == NULL) {
    SetLastError(ERROR_NOT_SUPPORTED);
    return false;
  }
  *end = '\0';
  wchar_t drive_w[PATH_UNITS];
  bool fits = MultiByteToWideChar(CP_UTF8, 0, drive, -1, drive_w, PATH_UNITS) != 0 &&
              _snwprintf(reach_w, PATH_UNITS, L"\\\\?\\unix%ls\\unc", drive_w) > 0;
  HeapFree(GetProcessHeap(), 0, drive);
  for (wchar_t *unit = reach_w; fits && *unit != L'\0'; unit++)
    if (*unit == L'/') *unit = L'\\';
  return fits;
}

/* Puts a path together; what does not fit is cut, and then not there. */
static void put_path(wchar_t path_w[PATH_UNITS], const wchar_t *format_w, ...) {
  va_list arguments;
  va_start(arguments, format_w);
  _vsnwprintf(path_w, PATH_UNITS, format_w, arguments);
  va_end(arguments);
  path_w[PATH_UNITS - 1] = L'\0';
}

static bool make_folder(const wchar_t *path_w) {
  return CreateDirectoryW(path_w, NULL) || GetLastError() == ERROR_ALREADY_EXISTS;
}

static bool is_there(const wchar_t *path_w) {
  return GetFileAttributesW(path_w) != INVALID_FILE_ATTRIBUTES;
}

/* ---- One share. ---- */

/* PLACE\host\share, and PLACE\host made. */
static bool name_folder(const wchar_t *place_w, const char *root, wchar_t path_w[PATH_UNITS]) {
  wchar_t root_w[NETWORK_ROOT_BYTES];
  if (MultiByteToWideChar(CP_UTF8, 0, root, -1, root_w, NETWORK_ROOT_BYTES) == 0) return false;
  const wchar_t *host_w = root_w + 2;
  put_path(path_w, L"%ls\\%.*ls", place_w, (int)wcscspn(host_w, L"\\"), host_w);
  if (!make_folder(path_w)) return false;
  put_path(path_w, L"%ls\\%ls", place_w, host_w);
  return true;
}

static bool place_share(const struct places *places, const char *root, bool is_reachable) {
  wchar_t reach_w[PATH_UNITS], hidden_w[PATH_UNITS];
  if (!name_folder(places->reach_w, root, reach_w) || !name_folder(places->hidden_w, root, hidden_w))
    return false;
  const wchar_t *to_w = is_reachable ? reach_w : hidden_w;
  const wchar_t *from_w = is_reachable ? hidden_w : reach_w;
  if (is_there(to_w)) return true;
  return is_there(from_w) ? MoveFileExW(from_w, to_w, 0) : make_folder(to_w);
}

/* ---- Shares that are no more. ---- */

static void remove_tree(const wchar_t *path_w) {
  wchar_t inner_w[PATH_UNITS];
  WIN32_FIND_DATAW found;
  put_path(inner_w, L"%ls\\*", path_w);
  HANDLE search = FindFirstFileW(inner_w, &found);
  if (search != INVALID_HANDLE_VALUE) {
    do {
      if (wcscmp(found.cFileName, L".") == 0 || wcscmp(found.cFileName, L"..") == 0) continue;
      put_path(inner_w, L"%ls\\%ls", path_w, found.cFileName);
      if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0)
        remove_tree(inner_w);
      else
        DeleteFileW(inner_w);
    } while (FindNextFileW(search, &found));
    FindClose(search);
  }
  RemoveDirectoryW(path_w);
}

static bool is_share(const struct network_state *state, const wchar_t *host_w, const wchar_t *name_w) {
  char root[NETWORK_ROOT_BYTES];
  wchar_t root_w[NETWORK_ROOT_BYTES];
  int units = _snwprintf(root_w, NETWORK_ROOT_BYTES, L"\\\\%ls\\%ls", host_w, name_w);
  return units > 0 && units < NETWORK_ROOT_BYTES &&
         WideCharToMultiByte(CP_UTF8, 0, root_w, -1, root, sizeof root, NULL, NULL) != 0 &&
         network_find(state, "share", "root", root) != NULL;
}

/* Calls back for each folder in a folder. */
struct sweep {
  const struct network_state *state;
  const wchar_t *place_w;
  const wchar_t *host_w; /* NULL while hosts are looked at */
};

static void sweep(const struct sweep *sweep_of);

static void sweep_one(const struct sweep *sweep_of, const wchar_t *name_w) {
  wchar_t path_w[PATH_UNITS];
  if (sweep_of->host_w == NULL) {
    struct sweep inner = *sweep_of;
    inner.host_w = name_w;
    sweep(&inner);
  } else if (!is_share(sweep_of->state, sweep_of->host_w, name_w)) {
    put_path(path_w, L"%ls\\%ls\\%ls", sweep_of->place_w, sweep_of->host_w, name_w);
    remove_tree(path_w);
  }
}

static void sweep(const struct sweep *sweep_of) {
  wchar_t pattern_w[PATH_UNITS];
  WIN32_FIND_DATAW found;
  put_path(pattern_w, L"%ls\\%ls%ls*", sweep_of->place_w, sweep_of->host_w == NULL ? L"" : sweep_of->host_w,
           sweep_of->host_w == NULL ? L"" : L"\\");
  HANDLE search = FindFirstFileW(pattern_w, &found);
  if (search == INVALID_HANDLE_VALUE) return;
  do {
    if (wcscmp(found.cFileName, L".") != 0 && wcscmp(found.cFileName, L"..") != 0)
      sweep_one(sweep_of, found.cFileName);
  } while (FindNextFileW(search, &found));
  FindClose(search);
}

bool network_share_folders_place(const struct network_state *state) {
  struct places places = {.hidden_w = L"C:\\csi-testbed\\shares"};
  if (!find_reach(places.reach_w) || !make_folder(places.reach_w) || !make_folder(places.hidden_w))
    return false;
  sweep(&(struct sweep){.state = state, .place_w = places.reach_w});
  sweep(&(struct sweep){.state = state, .place_w = places.hidden_w});
  for (const struct network_record *share = network_next(state, "share", NULL); share != NULL;
       share = network_next(state, "share", share))
    if (!place_share(&places, network_get(share, "root"), network_share_is_reachable(state, share)))
      return false;
  return true;
}
