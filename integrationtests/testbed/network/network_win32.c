/* SPDX-License-Identifier: Apache-2.0 */
#include "network.h"

#include <windows.h>

#include <stdlib.h>
#include <string.h>

#include "faults.h"

enum {
  POLL_MS = 10,       /* how soon one that hangs sees that it may go on */
  LOCK_MS = 60 * 1000 /* nobody has the network open for long */
};

static const wchar_t file_w[] = L"C:\\csi-testbed\\network.txt";
static const wchar_t new_file_w[] = L"C:\\csi-testbed\\network.new";
static const wchar_t mutex_w[] = L"csi-testbed-network";

/* An open network. */
struct network {
  struct network_state state; /* first */
  HANDLE mutex;
};

/* ---- Lock. ---- */

static HANDLE lock(void) {
  HANDLE mutex = CreateMutexW(NULL, FALSE, mutex_w);
  if (mutex == NULL) return NULL;
  DWORD waited = WaitForSingleObject(mutex, LOCK_MS);
  /* Abandoned: its owner died. The file is whole all the same. */
  if (waited == WAIT_OBJECT_0 || waited == WAIT_ABANDONED) return mutex;
  DWORD error = waited == WAIT_TIMEOUT ? ERROR_TIMEOUT : GetLastError();
  CloseHandle(mutex);
  SetLastError(error);
  return NULL;
}

static void unlock(HANDLE mutex) {
  DWORD error = GetLastError();
  ReleaseMutex(mutex);
  CloseHandle(mutex);
  SetLastError(error);
}

/* ---- File. ---- */

/* The text of the file, "" when there is none; NULL with the last error. */
static char *read_file(void) {
  char *text = calloc(1, NETWORK_STATE_BYTES + 1);
  if (text == NULL) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return NULL;
  }
  HANDLE file = CreateFileW(file_w, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                            NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_NOT_FOUND) return text;
  DWORD read = 0;
  bool done = file != INVALID_HANDLE_VALUE && ReadFile(file, text, NETWORK_STATE_BYTES, &read, NULL);
  DWORD error = GetLastError();
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  if (done) return text;
  free(text);
  SetLastError(error);
  return NULL;
}

static bool write_new_file(const char *text) {
  HANDLE file = CreateFileW(new_file_w, GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                            CREATE_ALWAYS, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return false;
  DWORD size_bytes = (DWORD)strlen(text), written = 0;
  bool done = WriteFile(file, text, size_bytes, &written, NULL) && written == size_bytes;
  DWORD error = GetLastError();
  CloseHandle(file);
  SetLastError(error);
  return done;
}

static bool write_file(struct network_state *state) {
  char *text = network_state_format(state);
  if (text == NULL) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return false;
  }
  bool done = write_new_file(text) && MoveFileExW(new_file_w, file_w, MOVEFILE_REPLACE_EXISTING);
  DWORD error = GetLastError();
  free(text);
  SetLastError(error);
  return done;
}

/* ---- Network. ---- */

struct network_state *network_open(void) {
  struct network *network = calloc(1, sizeof *network);
  if (network == NULL) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return NULL;
  }
  network->mutex = lock();
  char *text = network->mutex == NULL ? NULL : read_file();
  if (text == NULL) {
    if (network->mutex != NULL) unlock(network->mutex);
    free(network);
    return NULL;
  }
  network_state_parse(&network->state, text);
  free(text);
  return &network->state;
}

bool network_close(struct network_state *state) {
  if (state == NULL) return true;
  struct network *network = CONTAINING_RECORD(state, struct network, state);
  bool done = !state->is_changed || write_file(state);
  unlock(network->mutex);
  DWORD error = GetLastError();
  network_state_clear(state);
  free(network);
  SetLastError(error);
  return done;
}

/* ---- Calls. ---- */

static bool never(void *context) {
  (void)context;
  return false;
}

uint32_t network_begin_call(const char *name) {
  return network_begin_call_until(name, never, NULL);
}

static void delay(uint32_t delay_ms, bool (*is_over)(void *context), void *context) {
  ULONGLONG end_ms = GetTickCount64() + delay_ms;
  while (!is_over(context)) {
    ULONGLONG now_ms = GetTickCount64();
    if (now_ms >= end_ms) return;
    Sleep(end_ms - now_ms < POLL_MS ? (DWORD)(end_ms - now_ms) : POLL_MS);
  }
}

static bool is_cleared(uint64_t clearings) {
  struct network_state *state = network_open();
  if (state == NULL) return true;
  bool cleared = network_faults_clearings(state) != clearings;
  network_close(state);
  return cleared;
}

uint32_t network_begin_call_until(const char *name, bool (*is_over)(void *context), void *context) {
  struct network_state *state = network_open();
  if (state == NULL) return GetLastError();
  uint64_t clearings = network_faults_clearings(state);
  struct network_fault fault = network_faults_take(state, name);
  if (!network_close(state)) return GetLastError();
  if (fault.delay_ms != 0) delay(fault.delay_ms, is_over, context);
  while (fault.hangs && !is_cleared(clearings) && !is_over(context))
    Sleep(POLL_MS);
  return is_over(context) ? 0 : fault.error;
}
