/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "client/ctl/terminal.h"

enum {
  DEFAULT_COLUMNS = 80,
  DEFAULT_ROWS = 25,
};

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP};

enum { CAUGHT = sizeof caught / sizeof caught[0] };

static struct {
  bool keys; /* standard input is a terminal in the foreground */
  struct termios before;
  struct sigaction signals[CAUGHT]; /* in the order of `caught` */
  int wake[2];                      /* signal handlers write to it, the wait reads; never closed */
} watched = {.wake = {-1, -1}};

void csi_terminal_begin(void) {
  for (int file = 0; file <= STDERR_FILENO; file++)
    if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) _exit(1);
  signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of writing */
}

void csi_terminal_end(void) {
}

void csi_terminal_exit(int code) {
  _exit(code);
}

bool csi_terminal_is_capable(void) {
  const char *kind = getenv("TERM");
  return isatty(STDOUT_FILENO) && kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

bool csi_terminal_size(struct csi_terminal_size *size_out) {
  struct winsize size;
  *size_out = (struct csi_terminal_size){DEFAULT_COLUMNS, DEFAULT_ROWS};
  if (!isatty(STDOUT_FILENO)) return false;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    *size_out = (struct csi_terminal_size){size.ws_col, size.ws_row};
  return true;
}

bool csi_terminal_write(const char *text, size_t length_bytes) {
  while (length_bytes > 0) {
    ssize_t written = write(STDOUT_FILENO, text, length_bytes);
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) {
      text += written;
      length_bytes -= (size_t)written;
    }
  }
  return true;
}

static void tell(enum csi_terminal_event event) {
  const char what = (char)event;
  ssize_t ignored = write(watched.wake[1], &what, 1);
  (void)ignored;
}

static void on_signal(int number) {
  int error = errno;
  tell(number == SIGWINCH ? CSI_TERMINAL_TIME : number == SIGTSTP ? CSI_TERMINAL_STOP : CSI_TERMINAL_QUIT);
  errno = error;
}

void csi_terminal_wake(void) {
  tell(CSI_TERMINAL_WOKEN);
}

void csi_terminal_stop(void) {
  raise(SIGTSTP);
}

bool csi_terminal_watch(void) {
  if (watched.wake[0] < 0 && pipe(watched.wake) != 0) return false;
  struct sigaction action = {.sa_handler = on_signal};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < CAUGHT; i++)
    sigaction(caught[i], &action, &watched.signals[i]);
  /* Before a pager the keys are the pager's. From the background, tcsetattr() would stop the program. */
  watched.keys = isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
                 tcgetattr(STDIN_FILENO, &watched.before) == 0;
  if (!watched.keys) return true;
  struct termios single = watched.before;
  single.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &single);
  return true;
}

/* True when there was a byte; false also at the end of the input. */
static bool read_byte(int file, char *byte_out) {
  return read(file, byte_out, 1) == 1;
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

enum csi_terminal_event csi_terminal_wait(uint32_t timeout_ms) {
  int64_t end_ms = now_ms() + timeout_ms;
  while (true) {
    int64_t left_ms = end_ms - now_ms();
    struct pollfd files[] = {{.fd = watched.wake[0], .events = POLLIN},
                             {.fd = watched.keys ? STDIN_FILENO : -1, .events = POLLIN}};
    int ready = left_ms <= 0 ? 0 : poll(files, 2, (int)left_ms);
    if (ready == 0) return CSI_TERMINAL_TIME;
    char byte = 0;
    if (ready > 0 && files[0].revents != 0 && read_byte(watched.wake[0], &byte))
      return (enum csi_terminal_event)byte;
    if (ready > 0 && files[1].revents != 0) {
      if (!read_byte(STDIN_FILENO, &byte))
        watched.keys = false;
      else if (byte == 'q' || byte == 'Q')
        return CSI_TERMINAL_QUIT;
    }
  }
}

void csi_terminal_unwatch(void) {
  if (watched.keys) tcsetattr(STDIN_FILENO, TCSANOW, &watched.before);
  for (int i = 0; i < CAUGHT; i++)
    sigaction(caught[i], &watched.signals[i], NULL);
  watched.keys = false;
}
