/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <windows.h>

#include "base/arena.h"
#include "client/ctl/program.h"
#include "client/ctl/terminal.h"
#include "service/process_win32.h"

enum {
  ARGUMENTS_BYTES = 1 << 20, /* a Windows command line has at most 32,767 characters */
};

int wmain(int argc, wchar_t **argv_w);
int wmain(int argc, wchar_t **argv_w) {
  csi_process_harden();
  struct csi_arena *arena = csi_arena_new(ARGUMENTS_BYTES);
  char **argv = arena == NULL ? NULL : csi_process_arguments(arena, argc, argv_w);
  if (argv == NULL) {
    fputs("csi-proxyctl: out of memory\n", stderr);
    return CSI_CTL_REFUSED;
  }
  csi_terminal_begin();
  int result = csi_ctl_run(argc, argv);
  csi_terminal_end();
  csi_arena_free(arena);
  return result;
}
