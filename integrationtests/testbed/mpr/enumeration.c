/* SPDX-License-Identifier: Apache-2.0 */
#include "mpr.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <winnetwk.h>

#include "network/network.h"
#include "network/shares.h"

enum { LISTED_MAX = 256 };

/* What WNetOpenEnumW() has found, as of then. */
struct enumeration {
  size_t count;
  size_t next;
  size_t letters; /* so many at the beginning are connections of somebody with the letter of a drive */
  wchar_t roots_w[LISTED_MAX][NETWORK_ROOT_BYTES];
};

MPR_EXPORT DWORD WINAPI WNetOpenEnumW(DWORD scope, DWORD type, DWORD usage, NETRESOURCEW *resource,
                                      HANDLE *enumeration_out);
MPR_EXPORT DWORD WINAPI WNetEnumResourceW(HANDLE handle, DWORD *count_inout, void *buffer,
                                          DWORD *buffer_bytes_inout);
MPR_EXPORT DWORD WINAPI WNetCloseEnum(HANDLE handle);

static wchar_t letter_w[] = L"Q:";

static void list_kind(const struct network_state *state, const char *kind, struct enumeration *enumeration) {
  for (const struct network_record *record = network_next(state, kind, NULL);
       record != NULL && enumeration->count < LISTED_MAX; record = network_next(state, kind, record))
    if (MultiByteToWideChar(CP_UTF8, 0, network_get(record, "root"), -1,
                            enumeration->roots_w[enumeration->count], NETWORK_ROOT_BYTES) != 0)
      enumeration->count++;
}

/* Every share is also connected to a drive: that makes no global mapping of it. */
static void list(const struct network_state *state, struct enumeration *enumeration) {
  list_kind(state, "share", enumeration);
  enumeration->letters = enumeration->count;
  if (network_shares_are_listed(state)) list_kind(state, "mapping", enumeration);
}

/* Other scopes than connections have nothing in them. */
DWORD WINAPI WNetOpenEnumW(DWORD scope, DWORD type, DWORD usage, NETRESOURCEW *resource,
                           HANDLE *enumeration_out) {
  (void)usage;
  (void)resource;
  DWORD error = network_begin_call("WNetOpenEnumW");
  if (error != 0) return mpr_end(error);
  if (enumeration_out == NULL) return mpr_end(ERROR_INVALID_PARAMETER);
  struct enumeration *enumeration = calloc(1, sizeof *enumeration);
  if (enumeration == NULL) return mpr_end(ERROR_NOT_ENOUGH_MEMORY);
  struct network_state *state = network_open();
  if (state == NULL) {
    free(enumeration);
    return GetLastError();
  }
  if (scope == RESOURCE_CONNECTED && (type == RESOURCETYPE_ANY || (type & RESOURCETYPE_DISK) != 0))
    list(state, enumeration);
  network_close(state);
  *enumeration_out = enumeration;
  return mpr_end(0);
}

static DWORD size_of(const wchar_t *root_w) {
  return (DWORD)(sizeof(NETRESOURCEW) + (wcslen(root_w) + 1 + wcslen(mpr_provider_w) + 1) * sizeof *root_w);
}

/* Structures grow from the beginning of the buffer, their texts from its end. */
static wchar_t *put_text(wchar_t **texts_w, const wchar_t *text_w) {
  *texts_w -= wcslen(text_w) + 1;
  return wcscpy(*texts_w, text_w);
}

DWORD WINAPI WNetEnumResourceW(HANDLE handle, DWORD *count_inout, void *buffer, DWORD *buffer_bytes_inout) {
  struct enumeration *enumeration = handle;
  DWORD error = network_begin_call("WNetEnumResourceW");
  if (error != 0) return mpr_end(error);
  if (enumeration == NULL || count_inout == NULL || buffer == NULL || buffer_bytes_inout == NULL)
    return mpr_end(ERROR_INVALID_PARAMETER);
  if (enumeration->next == enumeration->count) return mpr_end(ERROR_NO_MORE_ITEMS);

  NETRESOURCEW *resources = buffer;
  DWORD left_bytes = *buffer_bytes_inout & ~(DWORD)1, count = 0;
  wchar_t *texts_w = (wchar_t *)((BYTE *)buffer + left_bytes);
  while (enumeration->next < enumeration->count && count < *count_inout) {
    const wchar_t *root_w = enumeration->roots_w[enumeration->next];
    if (size_of(root_w) > left_bytes) break;
    left_bytes -= size_of(root_w);
    resources[count++] = (NETRESOURCEW){
        .dwScope = RESOURCE_CONNECTED,
        .dwType = RESOURCETYPE_DISK,
        .dwDisplayType = RESOURCEDISPLAYTYPE_SHARE,
        .dwUsage = RESOURCEUSAGE_CONNECTABLE,
        .lpLocalName = enumeration->next < enumeration->letters ? letter_w : NULL,
        .lpRemoteName = put_text(&texts_w, root_w),
        .lpProvider = put_text(&texts_w, mpr_provider_w),
    };
    enumeration->next++;
  }
  if (count == 0 && *count_inout != 0) {
    *buffer_bytes_inout = size_of(enumeration->roots_w[enumeration->next]);
    return mpr_end(ERROR_MORE_DATA);
  }
  *count_inout = count;
  return mpr_end(0);
}

DWORD WINAPI WNetCloseEnum(HANDLE handle) {
  if (handle == NULL) return mpr_end(ERROR_INVALID_HANDLE);
  free(handle);
  return mpr_end(0);
}
