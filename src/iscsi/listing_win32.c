/* SPDX-License-Identifier: Apache-2.0 */
#include "iscsi/listing_win32.h"

#include <stdlib.h>
#include <string.h>

#include "base/wipe.h"

enum {
  ROOM_FIRST_BYTES = 32 << 10, /* mostly enough; some versions of Windows refuse far more than is needed */
  ROOM_MAX_BYTES = 4 << 20,
  REPEATS = 3, /* of a list for which no room suffices */
  PAUSE_MS = 50,
  TOLERATED = 3, /* lists that hang and keep no other from being asked for: they change nothing */
};

/* One call for a list, on its thread. */
struct list_call {
  struct csi_library_call call; /* first */
  const struct csi_iscsi_library *library;
  ULONG (*fill)(struct list_call *list, size_t *needed_bytes_out);
  wchar_t target_w[CSI_ISCSI_NAME_UNITS];
  ISCSI_UNIQUE_SESSION_ID session;
  void *room;
  size_t room_bytes;
  ULONG count;
  bool may_need_nothing; /* the library may say that an empty list does not fit */
};

/* --- The functions. What they say they need is a hint: it may be too little, or nothing. */

static ULONG fill_portals(struct list_call *list, size_t *needed_bytes_out) {
  ULONG size_bytes = (ULONG)list->room_bytes;
  list->count = (ULONG)(list->room_bytes / sizeof(ISCSI_TARGET_PORTAL_INFO_EXW));
  ULONG error = list->library->report_portals(&list->count, &size_bytes, list->room);
  *needed_bytes_out = size_bytes;
  return error;
}

static ULONG fill_targets(struct list_call *list, size_t *needed_bytes_out) {
  ULONG units = (ULONG)(list->room_bytes / sizeof(wchar_t));
  ULONG error = list->library->report_targets(FALSE, &units, list->room);
  *needed_bytes_out = (size_t)units * sizeof(wchar_t);
  return error;
}

/* UNVERIFIED ON WINDOWS: whether the size is in bytes, as documented, or in units, as for the list of
 * targets. As much room as either could mean is there. */
static ULONG fill_mechanisms(struct list_call *list, size_t *needed_bytes_out) {
  ULONG size_bytes = (ULONG)(list->room_bytes / sizeof(wchar_t));
  ULONG error = list->library->get_target_information(list->target_w, NULL, ISCSI_DISCOVERY_MECHANISMS,
                                                      &size_bytes, list->room);
  *needed_bytes_out = (size_t)size_bytes * sizeof(wchar_t);
  return error;
}

static ULONG fill_sessions(struct list_call *list, size_t *needed_bytes_out) {
  ULONG size_bytes = (ULONG)list->room_bytes;
  list->count = (ULONG)(list->room_bytes / sizeof(ISCSI_SESSION_INFOW));
  ULONG error = list->library->get_sessions(&size_bytes, &list->count, list->room);
  *needed_bytes_out = size_bytes;
  return error;
}

static ULONG fill_persistent_logins(struct list_call *list, size_t *needed_bytes_out) {
  ULONG size_bytes = (ULONG)list->room_bytes;
  list->count = (ULONG)(list->room_bytes / sizeof(PERSISTENT_ISCSI_LOGIN_INFOW));
  ULONG error = list->library->report_persistent_logins(&list->count, list->room, &size_bytes);
  *needed_bytes_out = size_bytes;
  return error;
}

static ULONG fill_devices(struct list_call *list, size_t *needed_bytes_out) {
  list->count = (ULONG)(list->room_bytes / sizeof(ISCSI_DEVICE_ON_SESSIONW));
  ULONG error = list->library->get_session_devices(&list->session, &list->count, list->room);
  *needed_bytes_out = list->count * sizeof(ISCSI_DEVICE_ON_SESSIONW);
  return error;
}

static const struct {
  const char *function;
  ULONG (*fill)(struct list_call *list, size_t *needed_bytes_out);
  const char *object; /* of the library call; before the name of a target */
} lists[] = {
    [CSI_ISCSI_LIST_PORTALS] = {"ReportIScsiSendTargetPortalsExW", fill_portals, "iSCSI portals"},
    [CSI_ISCSI_LIST_TARGETS] = {"ReportIScsiTargetsW", fill_targets, "iSCSI targets"},
    [CSI_ISCSI_LIST_MECHANISMS] = {"GetIScsiTargetInformationW", fill_mechanisms, "iSCSI target "},
    [CSI_ISCSI_LIST_SESSIONS] = {"GetIScsiSessionListW", fill_sessions, "iSCSI sessions"},
    [CSI_ISCSI_LIST_PERSISTENT_LOGINS] = {"ReportIScsiPersistentLoginsW", fill_persistent_logins,
                                          "iSCSI persistent logins"},
    [CSI_ISCSI_LIST_DEVICES] = {"GetDevicesForIScsiSessionW", fill_devices, "iSCSI disks of "},
};

/* --- Growing */

/* There may be secrets in what is listed: login options. */
static void free_room(struct list_call *list) {
  if (list->room != NULL) csi_wipe(list->room, list->room_bytes);
  free(list->room);
}

static bool make_room(struct list_call *list, size_t room_bytes) {
  free_room(list);
  list->room = calloc(1, room_bytes);
  list->room_bytes = list->room == NULL ? 0 : room_bytes;
  return list->room != NULL;
}

/* The library has two numbers for a room that is too small. */
static ULONG ask(struct list_call *list, size_t *needed_bytes_out) {
  ULONG error = list->fill(list, needed_bytes_out);
  return error == CSI_ISDSC_BUFFER_TOO_SMALL ? ERROR_INSUFFICIENT_BUFFER : error;
}

/* Asks with one room. The library may refuse it though it says that it needs none: for a moment while the
 * list changes, and for persistent logins also for as long as there are none. UNVERIFIED ON WINDOWS: both;
 * seen in reports of others. */
static ULONG fill_room(struct list_call *list, size_t *needed_bytes_out) {
  ULONG error = ask(list, needed_bytes_out);
  for (int i = 0; i < REPEATS && error == ERROR_INSUFFICIENT_BUFFER && *needed_bytes_out == 0; i++) {
    Sleep(PAUSE_MS);
    error = ask(list, needed_bytes_out);
  }
  if (error != ERROR_INSUFFICIENT_BUFFER || *needed_bytes_out != 0 || !list->may_need_nothing) return error;
  list->count = 0;
  return ERROR_SUCCESS;
}

static void run_list(struct csi_library_call *call) {
  struct list_call *list = (struct list_call *)call;
  size_t needed_bytes = ROOM_FIRST_BYTES;
  call->error = ERROR_INSUFFICIENT_BUFFER;
  while (call->error == ERROR_INSUFFICIENT_BUFFER && needed_bytes != 0 && needed_bytes <= ROOM_MAX_BYTES) {
    if (!make_room(list, needed_bytes)) {
      call->error = ERROR_NOT_ENOUGH_MEMORY;
      return;
    }
    call->error = fill_room(list, &needed_bytes);
    if (needed_bytes != 0 && needed_bytes < 2 * list->room_bytes) needed_bytes = 2 * list->room_bytes;
  }
}

static void clean_up(struct csi_library_call *call) {
  free_room((struct list_call *)call);
}

static struct list_call *new_call(struct csi_ctx *ctx, const struct csi_iscsi_listing *listing) {
  const struct csi_iscsi_library *library = csi_iscsi_library(ctx);
  if (library == NULL) return NULL;
  struct list_call *list = csi_library_call_new(ctx, sizeof *list, run_list, lists[listing->list].function);
  if (list == NULL) return NULL;
  list->call.clean_up = clean_up;
  list->call.tolerated = TOLERATED;
  list->may_need_nothing = listing->list == CSI_ISCSI_LIST_PERSISTENT_LOGINS;
  list->library = library;
  list->fill = lists[listing->list].fill;
  if (listing->session != NULL)
    list->session = (ISCSI_UNIQUE_SESSION_ID){.AdapterUnique = listing->session->adapter_unique,
                                              .AdapterSpecific = listing->session->adapter_specific};
  if (listing->target == NULL ||
      csi_iscsi_library_widen(ctx, listing->target, list->target_w, CSI_ISCSI_NAME_UNITS))
    return list;
  csi_library_call_free(&list->call);
  return NULL;
}

static const char *object_of(struct csi_ctx *ctx, const struct csi_iscsi_listing *listing) {
  const char *object = lists[listing->list].object;
  if (listing->target == NULL) return object;
  object = csi_arena_printf(ctx->arena, "%s%s", object, listing->target);
  if (object == NULL) csi_fail_out_of_memory(&ctx->status);
  return object;
}

bool csi_iscsi_library_list(struct csi_ctx *ctx, const struct csi_iscsi_listing *listing,
                            struct csi_iscsi_answer *answer_out) {
  const char *object = object_of(ctx, listing);
  struct list_call *list = object == NULL ? NULL : new_call(ctx, listing);
  if (list == NULL || !csi_library_call(ctx, &list->call, CSI_LIBRARY_CALL_MS, object)) return false;
  answer_out->call = &list->call;
  answer_out->reply = (struct csi_iscsi_reply){.bytes = list->room,
                                               .size_bytes = list->room_bytes,
                                               .address = (uint64_t)(uintptr_t)list->room,
                                               .count = list->count};
  return list->call.error == ERROR_SUCCESS ||
         csi_iscsi_library_fail(ctx, list->call.error, list->call.name, object);
}

void csi_iscsi_answer_free(struct csi_iscsi_answer *answer) {
  csi_library_call_free(answer->call);
  answer->call = NULL;
}
