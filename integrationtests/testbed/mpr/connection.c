/* SPDX-License-Identifier: Apache-2.0 */
#include "mpr.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <winnetwk.h>

#include "auth_buffer.h"
#include "network/network.h"
#include "network/secret.h"
#include "network/share_folders.h"
#include "network/shares.h"

/* Flags that mingw's header lacks. */
enum {
  MPR_REQUIRE_INTEGRITY = 0x4000,
  MPR_REQUIRE_PRIVACY = 0x8000,
  MPR_GLOBAL_MAPPING = 0x40000,
  MPR_KNOWN_FLAGS = CONNECT_TEMPORARY | MPR_REQUIRE_INTEGRITY | MPR_REQUIRE_PRIVACY | MPR_GLOBAL_MAPPING,
};

enum {
  USER_BYTES = 512,
  /* What WNetGetLastErrorW() tells of a fault with ERROR_EXTENDED_ERROR. */
  EXTENDED_ERROR = 4711,
};

/* A connection that is no global mapping is how credentials are tried, and leaves nothing: it goes with its
 * logon session. For counters and faults it has the name of that step, which the fake node has too. */
static const char trial_name[] = "LogonUserW";

const wchar_t mpr_provider_w[] = L"Microsoft Windows Network";

MPR_EXPORT DWORD WINAPI WNetAddConnection4W(HWND owner, NETRESOURCEW *resource, void *auth_buffer,
                                            DWORD auth_buffer_bytes, DWORD flags, BYTE *options,
                                            DWORD options_bytes);
MPR_EXPORT DWORD WINAPI WNetCancelConnection2W(const wchar_t *name_w, DWORD flags, WINBOOL force);
MPR_EXPORT DWORD WINAPI WNetGetLastErrorW(DWORD *error_out, wchar_t *text_w, DWORD text_units,
                                          wchar_t *name_w, DWORD name_units);

DWORD mpr_end(DWORD error) {
  SetLastError(error);
  return error;
}

/* ---- Arguments. ---- */

static bool read_root(const wchar_t *name_w, char root_out[NETWORK_ROOT_BYTES]) {
  char name[NETWORK_ROOT_BYTES];
  return name_w != NULL && WideCharToMultiByte(CP_UTF8, 0, name_w, -1, name, sizeof name, NULL, NULL) != 0 &&
         network_share_root(name, root_out);
}

static DWORD check_resource(const NETRESOURCEW *resource) {
  if (resource == NULL || resource->lpRemoteName == NULL) return ERROR_INVALID_PARAMETER;
  if (resource->dwType != RESOURCETYPE_DISK) return ERROR_BAD_DEV_TYPE;
  if (resource->lpLocalName != NULL && resource->lpLocalName[0] != L'\0') return ERROR_BAD_DEVICE;
  if (resource->lpProvider != NULL && wcscmp(resource->lpProvider, mpr_provider_w) != 0)
    return ERROR_BAD_PROVIDER;
  return 0;
}

/* Who connects. */
struct caller {
  char user[USER_BYTES];
  char digest[NETWORK_DIGEST_BYTES];
};

static bool unpack(const BYTE *packed, DWORD packed_bytes, struct caller *caller_out) {
  struct auth_buffer head;
  *caller_out = (struct caller){.user = ""};
  network_secret_digest("", 0, caller_out->digest);
  if (packed == NULL) return packed_bytes == 0;
  if (packed_bytes < sizeof head) return false;
  memcpy(&head, packed, sizeof head);
  uint64_t units = (uint64_t)head.user_units + head.password_units;
  if (head.magic != AUTH_BUFFER_MAGIC || packed_bytes != sizeof head + units * sizeof(wchar_t)) return false;
  const wchar_t *user_w = (const wchar_t *)(packed + sizeof head);
  int bytes = WideCharToMultiByte(CP_UTF8, 0, user_w, (int)head.user_units, caller_out->user, USER_BYTES - 1,
                                  NULL, NULL);
  if (bytes == 0 && head.user_units != 0) return false;
  caller_out->user[bytes] = '\0';
  network_secret_digest_utf16(user_w + head.user_units, head.password_units, caller_out->digest);
  return true;
}

/* ---- Calls. ---- */

/* Ends a call that has changed something, or not. */
static DWORD finish(struct network_state *state, DWORD answer) {
  if (answer == 0 && !network_share_folders_place(state)) answer = GetLastError();
  if (!network_close(state) && answer == 0) answer = GetLastError();
  return answer;
}

DWORD WINAPI WNetAddConnection4W(HWND owner, NETRESOURCEW *resource, void *auth_buffer,
                                 DWORD auth_buffer_bytes, DWORD flags, BYTE *options, DWORD options_bytes) {
  char root[NETWORK_ROOT_BYTES];
  struct caller caller;
  (void)owner;
  (void)options;
  bool is_global = (flags & MPR_GLOBAL_MAPPING) != 0;
  DWORD error = network_begin_call(is_global ? "WNetAddConnection4W" : trial_name);
  if (error == 0) error = check_resource(resource);
  if (error == 0 && ((flags & ~(DWORD)MPR_KNOWN_FLAGS) != 0 || options_bytes != 0))
    error = ERROR_INVALID_PARAMETER;
  if (error == 0 && !unpack(auth_buffer, auth_buffer_bytes, &caller)) error = ERROR_INVALID_PARAMETER;
  if (error == 0 && !read_root(resource->lpRemoteName, root)) error = ERROR_BAD_NET_NAME;
  if (error != 0) return mpr_end(error);

  struct network_state *state = network_open();
  if (state == NULL) return GetLastError();
  struct network_credentials credentials = {.user = caller.user, .digest = caller.digest};
  bool require_privacy = (flags & MPR_REQUIRE_PRIVACY) != 0;
  error = is_global ? network_share_map(state, root, &credentials, require_privacy)
                    : network_share_try(state, root, &credentials, require_privacy);
  return mpr_end(finish(state, error));
}

DWORD WINAPI WNetCancelConnection2W(const wchar_t *name_w, DWORD flags, WINBOOL force) {
  char root[NETWORK_ROOT_BYTES];
  (void)flags;
  (void)force;
  bool is_root = read_root(name_w, root);
  DWORD error = network_begin_call("WNetCancelConnection2W");
  if (error == 0 && !is_root) error = ERROR_NOT_CONNECTED;
  if (error != 0) return mpr_end(error);

  struct network_state *state = network_open();
  if (state == NULL) return GetLastError();
  return mpr_end(finish(state, network_share_unmap(state, root)));
}

DWORD WINAPI WNetGetLastErrorW(DWORD *error_out, wchar_t *text_w, DWORD text_units, wchar_t *name_w,
                               DWORD name_units) {
  if (error_out == NULL || text_w == NULL || name_w == NULL || text_units == 0 || name_units == 0)
    return mpr_end(ERROR_INVALID_ADDRESS);
  *error_out = EXTENDED_ERROR;
  _snwprintf(text_w, text_units, L"The testbed's network says so.");
  text_w[text_units - 1] = L'\0';
  _snwprintf(name_w, name_units, L"%ls", mpr_provider_w);
  name_w[name_units - 1] = L'\0';
  return 0;
}
