/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "client/ctl/terminal.h"

enum {
  DEFAULT_COLUMNS = 80,
  DEFAULT_ROWS = 25,
  CONSOLE_UNITS = 1024,
};

static struct {
  HANDLE quit;  /* event: set by Ctrl-C */
  HANDLE woken; /* event: set by csi_terminal_wake() */
  bool keys;    /* standard input is a console */
  DWORD input_mode;
} watched;

static HANDLE output(void) {
  return GetStdHandle(STD_OUTPUT_HANDLE);
}

/* Code pages and mode are the console's: other programs find them as we leave them. */
static struct {
  UINT input_page, output_page; /* 0: there is no console */
  bool mode_set;
  DWORD output_mode;
} before;

void csi_terminal_end(void) {
  if (before.mode_set) SetConsoleMode(output(), before.output_mode);
  if (before.input_page != 0) SetConsoleCP(before.input_page);
  if (before.output_page != 0) SetConsoleOutputCP(before.output_page);
}

/* Called before the program is ended by Ctrl-C, by closing the window, or by logging off. */
static BOOL WINAPI on_end(DWORD what) {
  (void)what;
  csi_terminal_end();
  return FALSE;
}

/* UNVERIFIED ON WINDOWS: that a request typed at the console arrives as UTF-8. */
void csi_terminal_begin(void) {
  before.input_page = GetConsoleCP();
  before.output_page = GetConsoleOutputCP();
  SetConsoleCtrlHandler(on_end, TRUE);
  SetConsoleCP(CP_UTF8);
  SetConsoleOutputCP(CP_UTF8);
}

void csi_terminal_exit(int code) {
  csi_terminal_end();
  _Exit(code);
}

/* UNVERIFIED ON WINDOWS: what a console shows of the sequences. Wine hands them on to the terminal of Unix,
 * but counts them as columns, so that it breaks coloured lines early. */
bool csi_terminal_is_capable(void) {
  const DWORD needed = ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING;
  DWORD mode;
  if (!GetConsoleMode(output(), &mode)) return false;
  if ((mode & needed) == needed) return true;
  if (!before.mode_set) before.output_mode = mode;
  before.mode_set = true;
  return SetConsoleMode(output(), mode | needed);
}

bool csi_terminal_size(struct csi_terminal_size *size_out) {
  CONSOLE_SCREEN_BUFFER_INFO information;
  DWORD mode;
  *size_out = (struct csi_terminal_size){DEFAULT_COLUMNS, DEFAULT_ROWS};
  if (!GetConsoleMode(output(), &mode)) return false;
  if (!GetConsoleScreenBufferInfo(output(), &information)) return true;
  const SMALL_RECT *window = &information.srWindow;
  if (window->Right < window->Left || window->Bottom < window->Top) return true;
  size_out->columns = (unsigned)(window->Right - window->Left) + 1;
  size_out->rows = (unsigned)(window->Bottom - window->Top) + 1;
  return true;
}

static bool fail_to_write(void) {
  DWORD error = GetLastError();
  bool unread = error == ERROR_NO_DATA || error == ERROR_BROKEN_PIPE || error == ERROR_PIPE_NOT_CONNECTED;
  errno = unread ? EPIPE : error == ERROR_DISK_FULL ? ENOSPC : EIO;
  return false;
}

/* A console shows UTF-8 only to those who write UTF-16. */
static bool write_console(const char *text, size_t length_bytes) {
  while (length_bytes > 0) {
    wchar_t text_w[CONSOLE_UNITS];
    size_t take_bytes = csi_utf8_cut(text, length_bytes, CONSOLE_UNITS);
    int units = MultiByteToWideChar(CP_UTF8, 0, text, (int)take_bytes, text_w, CONSOLE_UNITS);
    DWORD written;
    for (int at = 0; at < units; at += (int)written)
      if (!WriteConsoleW(output(), text_w + at, (DWORD)(units - at), &written, NULL) || written == 0)
        return fail_to_write();
    if (units <= 0) return fail_to_write();
    text += take_bytes;
    length_bytes -= take_bytes;
  }
  return true;
}

bool csi_terminal_write(const char *text, size_t length_bytes) {
  DWORD mode;
  if (GetConsoleMode(output(), &mode)) return write_console(text, length_bytes);
  while (length_bytes > 0) {
    DWORD written;
    DWORD part = length_bytes > MAXDWORD ? MAXDWORD : (DWORD)length_bytes;
    if (!WriteFile(output(), text, part, &written, NULL)) return fail_to_write();
    text += written;
    length_bytes -= written;
  }
  return true;
}

static BOOL WINAPI on_control(DWORD what) {
  if (what != CTRL_C_EVENT && what != CTRL_BREAK_EVENT) return FALSE;
  SetEvent(watched.quit);
  return TRUE;
}

void csi_terminal_wake(void) {
  SetEvent(watched.woken);
}

void csi_terminal_stop(void) {
}

bool csi_terminal_watch(void) {
  HANDLE input = GetStdHandle(STD_INPUT_HANDLE);
  watched.quit = CreateEventW(NULL, TRUE, FALSE, NULL);
  watched.woken = CreateEventW(NULL, FALSE, FALSE, NULL);
  if (watched.quit == NULL || watched.woken == NULL) {
    csi_terminal_unwatch();
    return false;
  }
  SetConsoleCtrlHandler(on_control, TRUE);
  DWORD output_mode; /* before a pager the keys are the pager's */
  watched.keys = GetConsoleMode(output(), &output_mode) && GetConsoleMode(input, &watched.input_mode) &&
                 SetConsoleMode(input, ENABLE_PROCESSED_INPUT | ENABLE_WINDOW_INPUT | ENABLE_EXTENDED_FLAGS);
  return true;
}

/* Reads one record of the console; false when it is none that ends a wait. */
static bool take_input(enum csi_terminal_event *event_out) {
  INPUT_RECORD record;
  DWORD count;
  if (!ReadConsoleInputW(GetStdHandle(STD_INPUT_HANDLE), &record, 1, &count) || count == 0) {
    watched.keys = false; /* the console is gone */
    return false;
  }
  if (record.EventType == WINDOW_BUFFER_SIZE_EVENT) {
    *event_out = CSI_TERMINAL_TIME;
    return true;
  }
  if (record.EventType != KEY_EVENT || !record.Event.KeyEvent.bKeyDown) return false;
  wchar_t key = record.Event.KeyEvent.uChar.UnicodeChar;
  *event_out = CSI_TERMINAL_QUIT;
  return key == L'q' || key == L'Q' || key == 3; /* Ctrl-C as a key, where the console makes no event of it */
}

enum csi_terminal_event csi_terminal_wait(uint32_t timeout_ms) {
  ULONGLONG end_ms = GetTickCount64() + timeout_ms;
  while (true) {
    ULONGLONG now_ms = GetTickCount64();
    DWORD left_ms = now_ms >= end_ms ? 0 : (DWORD)(end_ms - now_ms);
    HANDLE handles[] = {watched.quit, watched.woken, GetStdHandle(STD_INPUT_HANDLE)};
    DWORD result = WaitForMultipleObjects(watched.keys ? 3 : 2, handles, FALSE, left_ms);
    enum csi_terminal_event event;
    if (result == WAIT_OBJECT_0) return CSI_TERMINAL_QUIT;
    if (result == WAIT_OBJECT_0 + 1) return CSI_TERMINAL_WOKEN;
    if (result == WAIT_FAILED && watched.keys) {
      watched.keys = false; /* the console is gone */
      continue;
    }
    if (result != WAIT_OBJECT_0 + 2) return CSI_TERMINAL_TIME;
    if (take_input(&event)) return event;
  }
}

void csi_terminal_unwatch(void) {
  if (watched.keys) SetConsoleMode(GetStdHandle(STD_INPUT_HANDLE), watched.input_mode);
  SetConsoleCtrlHandler(on_control, FALSE);
  if (watched.quit != NULL) CloseHandle(watched.quit);
  if (watched.woken != NULL) CloseHandle(watched.woken);
  watched.quit = watched.woken = NULL;
  watched.keys = false;
}
