/* SPDX-License-Identifier: Apache-2.0
 *
 * Scripts that complete command lines of csi-proxyctl in a shell.
 */
#ifndef CSI_CTL_COMPLETION_H
#define CSI_CTL_COMPLETION_H

#include <stdbool.h>

#include "client/ctl/ctl.h"
#include "client/ctl/text_buffer.h"

/* Appends text as PowerShell takes it literally: in single quotes, those inside doubled. */
void csi_powershell_quote(struct csi_text_buffer *out, const char *text);

/* Appends the script for PowerShell: verbs, flags with the words they take, groups, versions and RPCs, all of
 * this build. False: memory is short. */
bool csi_completion_powershell(struct csi_ctl *ctl, struct csi_text_buffer *out, struct csi_ctl_error *error);

#endif
