/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "client/ctl/completion.h"
#include "client/ctl/output.h"
#include "client/ctl/verbs.h"

static int run_completion(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc;
  struct csi_text_buffer out = {0};
  struct csi_ctl_error error;
  bool done = strcmp(argv[1], "powershell") == 0
                  ? csi_completion_powershell(ctl, &out, &error)
                  : csi_ctl_wrong(&error, "there is no completion for %s, only for powershell", argv[1]);
  if (done) return csi_output_write(ctl, &out);
  csi_text_buffer_free(&out);
  return csi_ctl_report(ctl, &error);
}

const struct csi_ctl_verb csi_ctl_completion_verb = {
    .name = "completion",
    .arguments = "powershell",
    .summary = "A script that completes command lines",
    .help = "Prints a script by which PowerShell completes verbs, flags, groups, versions and RPCs. For this "
            "session, and for all later ones:\n"
            "\n"
            "  csi-proxyctl completion powershell | Out-String | Invoke-Expression\n"
            "  csi-proxyctl completion powershell | Out-File -Append -Encoding utf8 $PROFILE",
    .least_arguments = 1,
    .most_arguments = 1,
    .run = run_completion,
};
