/* SPDX-License-Identifier: Apache-2.0
 *
 * csi-proxy-usage [VERB]: prints the usage of csi-proxy.exe, or of one of its verbs, on the machine that
 * builds it, for its manual page.
 */
#include <stdio.h>

#include "service/install_plan.h"
#include "service/options.h"

int main(int argc, char **argv) {
  enum csi_verb verb = csi_install_verb(argc, argv);
  if (verb != CSI_VERB_NONE)
    csi_install_print_usage(stdout, verb);
  else
    csi_options_print_usage(stdout, "csi-proxy");
  return 0;
}
