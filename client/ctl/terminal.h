/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard output and the keyboard: what kind they are, writing UTF-8 to them, and a screen that is drawn
 * anew. terminal_posix.c and terminal_win32.c implement it. For the main thread only.
 */
#ifndef CSI_CTL_TERMINAL_H
#define CSI_CTL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csi_terminal_size {
  unsigned columns;
  unsigned rows;
};

/* First thing in main(), and last: makes the standard files usable. Elsewhere than on Windows, those that are
 * closed are opened on /dev/null, so that no pipe of ours gets their numbers, and SIGPIPE is ignored. On
 * Windows the console takes and shows UTF-8 in between, also when Ctrl-C ends the program. */
void csi_terminal_begin(void);
void csi_terminal_end(void);

/* Ends the process at once, while other threads run, with the console as csi_terminal_end() leaves it. */
_Noreturn void csi_terminal_exit(int code);

/* True when standard output is a terminal that understands escape sequences. On Windows this switches them on
 * for the console (ENABLE_VIRTUAL_TERMINAL_PROCESSING) until the program ends; one before Windows 10 refuses.
 */
bool csi_terminal_is_capable(void);

/* True when standard output is a terminal; size_out (out): its size, 80 by 25 when it does not tell. */
bool csi_terminal_size(struct csi_terminal_size *size_out);

/* Writes all of the text to standard output: to a console of Windows as UTF-16 (WriteConsoleW), otherwise the
 * bytes as they are. Blocks while the reader is slow. False with errno: EPIPE when nobody reads any more,
 * ENOSPC when the disk is full, and others. */
bool csi_terminal_write(const char *text, size_t length_bytes);

/* What ends a wait of csi_terminal_wait(). */
enum csi_terminal_event {
  CSI_TERMINAL_TIME,  /* the time is over, or the size has changed */
  CSI_TERMINAL_QUIT,  /* q, Ctrl-C, or the program is told to end */
  CSI_TERMINAL_STOP,  /* Ctrl-Z: unwatch, csi_terminal_stop(), watch again. Not on Windows */
  CSI_TERMINAL_WOKEN, /* csi_terminal_wake() */
};

/* Begins to catch Ctrl-C, Ctrl-Z and changes of the size, and to read keys singly where standard input and
 * output are a terminal. False when that cannot be: then Ctrl-C ends the program as it always does, and
 * nothing may wait. */
bool csi_terminal_watch(void);

/* Blocks for at most timeout_ms, between csi_terminal_watch() and csi_terminal_unwatch(). */
enum csi_terminal_event csi_terminal_wait(uint32_t timeout_ms);

/* Ends the wait, or the next one. Any thread, after the first csi_terminal_watch(). */
void csi_terminal_wake(void);

/* Lets the shell stop the program, and returns when it goes on. */
void csi_terminal_stop(void);

/* Puts everything back as it was. */
void csi_terminal_unwatch(void);

#endif
