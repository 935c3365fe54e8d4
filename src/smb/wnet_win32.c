/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/wnet_win32.h"

#include <windows.h>

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"
#include "smb/wnet_calls_win32.h"

enum {
  LISTING_BYTES = 16 * 1024, /* as the documentation advises */
  LISTING_MAX_BYTES = 1024 * 1024,
  NAMES_MAX = 1024, /* that are collected */
};

/* ---- State. ---- */

/* Looks for a share among the connections of this logon session, or collects all. */
struct listing {
  struct csi_library_call call; /* first */
  const struct csi_wnet *wnet;
  const char *failed;
  struct csi_provider_error provider;
  bool is_listed;
  wchar_t root_w[CSI_SMB_ROOT_UNITS]; /* "" = all are collected */
  DWORD buffer_bytes;
  void *buffer;
  wchar_t *names_w[NAMES_MAX]; /* what was collected */
  size_t count;
};

static void free_buffer(struct csi_library_call *call) {
  struct listing *listing = (struct listing *)call;
  for (size_t i = 0; i < listing->count; i++)
    free(listing->names_w[i]);
  free(listing->buffer);
}

/* What does not fit is left out. */
static void collect(struct listing *listing, const wchar_t *name_w) {
  if (name_w == NULL || listing->count == NAMES_MAX) return;
  size_t bytes = (wcslen(name_w) + 1) * sizeof *name_w;
  wchar_t *copy_w = malloc(bytes);
  if (copy_w != NULL) listing->names_w[listing->count++] = memcpy(copy_w, name_w, bytes);
}

static bool names_root(const struct listing *listing, const wchar_t *name_w) {
  size_t units = name_w == NULL ? 0 : wcslen(name_w);
  if (units > 0 && name_w[units - 1] == L'\\') units--;
  return units != 0 &&
         csi_utf16_compare_ignore_case(name_w, units, listing->root_w, wcslen(listing->root_w)) == 0;
}

/* A connection of one logon session: global mappings are made without the letter of a drive. */
static bool has_letter(const NETRESOURCEW *resource) {
  return resource->lpLocalName != NULL && resource->lpLocalName[0] != L'\0';
}

static bool grow_buffer(struct listing *listing, DWORD size_bytes) {
  void *larger = realloc(listing->buffer, size_bytes);
  if (larger == NULL) {
    listing->call.error = ERROR_NOT_ENOUGH_MEMORY;
    return false;
  }
  listing->buffer = larger;
  listing->buffer_bytes = size_bytes;
  return true;
}

static void take(struct listing *listing, const wchar_t *name_w) {
  if (listing->root_w[0] == L'\0')
    collect(listing, name_w);
  else if (names_root(listing, name_w))
    listing->is_listed = true;
}

/* One step of the enumeration: true while there may be more. */
static bool list_some(struct listing *listing, HANDLE enumeration) {
  DWORD count = (DWORD)-1, size_bytes = listing->buffer_bytes;
  DWORD error = listing->wnet->enum_resource(enumeration, &count, listing->buffer, &size_bytes);
  if (error == ERROR_MORE_DATA && size_bytes > listing->buffer_bytes && size_bytes <= LISTING_MAX_BYTES)
    return grow_buffer(listing, size_bytes);
  listing->call.error = error == ERROR_NO_MORE_ITEMS ? NO_ERROR : error;
  if (error != NO_ERROR) return false;
  const NETRESOURCEW *resources = listing->buffer;
  if (count > listing->buffer_bytes / sizeof *resources) count = 0;
  for (DWORD i = 0; i < count; i++)
    if (!has_letter(&resources[i])) take(listing, resources[i].lpRemoteName);
  return count != 0 && !listing->is_listed;
}

static void run_listing(struct csi_library_call *call) {
  struct listing *listing = (struct listing *)call;
  HANDLE enumeration;
  listing->failed = call->name;
  call->error = listing->wnet->open_enum(RESOURCE_CONNECTED, RESOURCETYPE_DISK, 0, NULL, &enumeration);
  csi_provider_error_get(listing->wnet, call->error, &listing->provider);
  if (call->error != NO_ERROR) return;
  listing->failed = "WNetEnumResourceW";
  if (grow_buffer(listing, LISTING_BYTES)) {
    while (list_some(listing, enumeration)) {
    }
  }
  csi_provider_error_get(listing->wnet, call->error, &listing->provider);
  listing->wnet->close_enum(enumeration);
}

static struct listing *new_listing(struct csi_ctx *ctx, const char *root) {
  const struct csi_wnet *wnet = csi_wnet(&ctx->status);
  if (wnet == NULL) return NULL;
  struct listing *listing = csi_library_call_new(ctx, sizeof *listing, run_listing, "WNetOpenEnumW");
  if (listing == NULL) return NULL;
  listing->wnet = wnet;
  listing->call.clean_up = free_buffer;
  if (csi_smb_widen(ctx, root, "remote path", listing->root_w, CSI_SMB_ROOT_UNITS)) return listing;
  csi_library_call_free(&listing->call);
  return NULL;
}

/* UNVERIFIED ON WINDOWS: whether global mappings are listed. When they are not, all are unknown, and add()
 * and check() tell what there is. */
static bool get_state(void *self, struct csi_ctx *ctx, const char *root, enum csi_smb_state *state_out) {
  (void)self;
  const char *object = csi_smb_object(ctx, root);
  struct listing *listing = object == NULL ? NULL : new_listing(ctx, root);
  if (listing == NULL) return false;
  if (!csi_library_call(ctx, &listing->call, CSI_LIBRARY_CALL_MS, object)) return false;
  *state_out = listing->is_listed ? CSI_SMB_MAPPED : CSI_SMB_UNKNOWN;
  bool done = listing->call.error == NO_ERROR ||
              csi_wnet_fail(ctx, listing->call.error, &listing->provider, listing->failed, object);
  csi_library_call_free(&listing->call);
  return done;
}

static bool copy_names(struct csi_ctx *ctx, const struct listing *listing, const char ***names_out,
                       size_t *count_out) {
  const char **names = csi_arena_alloc_array(ctx->arena, listing->count + 1, sizeof *names);
  if (names == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < listing->count; i++) {
    names[i] = csi_utf8_from_utf16(ctx->arena, listing->names_w[i], wcslen(listing->names_w[i]));
    if (names[i] == NULL) return csi_fail_out_of_memory(&ctx->status);
  }
  *names_out = names;
  *count_out = listing->count;
  return true;
}

static bool list(void *self, struct csi_ctx *ctx, const char ***names_out, size_t *count_out) {
  (void)self;
  static const char object[] = "shares that are mapped";
  struct listing *listing = new_listing(ctx, "");
  if (listing == NULL || !csi_library_call(ctx, &listing->call, CSI_LIBRARY_CALL_MS, object)) return false;
  bool done = listing->call.error == NO_ERROR
                  ? copy_names(ctx, listing, names_out, count_out)
                  : csi_wnet_fail(ctx, listing->call.error, &listing->provider, listing->failed, object);
  csi_library_call_free(&listing->call);
  return done;
}

/* ---- Adding and removing. ---- */

static bool add(void *self, struct csi_ctx *ctx, const char *root,
                const struct csi_smb_credentials *credentials, bool require_privacy) {
  (void)self;
  DWORD flags = CONNECT_TEMPORARY | CSI_CONNECT_GLOBAL_MAPPING;
  if (require_privacy) flags |= CSI_CONNECT_REQUIRE_PRIVACY;
  struct csi_connect *connect = csi_connect_new(ctx, root, credentials, flags, NULL);
  return connect != NULL && csi_connect_finish(ctx, connect, root, NULL);
}

struct removal {
  struct csi_library_call call; /* first */
  const struct csi_wnet *wnet;
  struct csi_provider_error provider;
  wchar_t root_w[CSI_SMB_ROOT_UNITS];
};

/* UNVERIFIED ON WINDOWS: that this ends a global mapping, and not only a connection of this logon session. */
static void run_removal(struct csi_library_call *call) {
  struct removal *removal = (struct removal *)call;
  call->error = removal->wnet->cancel_connection(removal->root_w, 0, TRUE);
  csi_provider_error_get(removal->wnet, call->error, &removal->provider);
}

static bool end(void *self, struct csi_ctx *ctx, const char *root) {
  (void)self;
  const char *object = csi_smb_object(ctx, root);
  const struct csi_wnet *wnet = object == NULL ? NULL : csi_wnet(&ctx->status);
  if (wnet == NULL) return false;
  struct removal *removal = csi_library_call_new(ctx, sizeof *removal, run_removal, "WNetCancelConnection2W");
  if (removal == NULL) return false;
  removal->wnet = wnet;
  if (!csi_smb_widen(ctx, root, "remote path", removal->root_w, CSI_SMB_ROOT_UNITS)) {
    csi_library_call_free(&removal->call);
    return false;
  }
  if (!csi_library_call(ctx, &removal->call, CSI_LIBRARY_CALL_MS, object)) return false;
  bool done = removal->call.error == NO_ERROR ||
              csi_wnet_fail(ctx, removal->call.error, &removal->provider, "WNetCancelConnection2W", object);
  csi_library_call_free(&removal->call);
  return done;
}

/* ---- The table. ---- */

const struct csi_smb_host *csi_smb_wnet_host(void) {
  static const struct csi_smb_host host = {
      .get_state = get_state,
      .list = list,
      .add = add,
      .remove = end,
      .check = csi_smb_check_root,
      .try_credentials = csi_smb_try_credentials,
      .fingerprint = csi_smb_fingerprint,
  };
  return &host;
}

bool csi_smb_wnet_probe(struct csi_ctx *ctx) {
  return csi_wnet(&ctx->status) != NULL;
}

bool csi_smb_wnet_is_unknown_flag(const struct csi_status *status) {
  if (status->space != CSI_SPACE_WIN32 || status->call == NULL ||
      strcmp(status->call, "WNetAddConnection4W") != 0)
    return false;
  switch (status->number) {
  case ERROR_INVALID_PARAMETER:
  case ERROR_INVALID_FLAGS:
    return true;
  default:
    return false;
  }
}
