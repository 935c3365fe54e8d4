/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/program.h"
#include "client/ctl/terminal.h"

int main(int argc, char **argv) {
  csi_terminal_begin();
  int result = csi_ctl_run(argc, argv);
  csi_terminal_end();
  return result;
}
