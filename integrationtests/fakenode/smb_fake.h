/* SPDX-License-Identifier: Apache-2.0
 *
 * Servers with shares, and the global mappings of a node to them, in memory, behind the host interface of the
 * SMB group. What servers and Windows answer is ruled by the testbed's network (../testbed/network/shares.h),
 * and scenes are made with its command `share`. Faults and counts are those of network_faults.h, under the
 * names of the Win32 calls.
 *
 *   struct csi_fake_shares *shares = csi_fake_shares_new(network);
 *   csi_fake_shares_do(shares, "add root=\\\\host\\share user=u password=p");
 *
 * Every function may be called from any thread. Scene functions abort the program when the scene is
 * impossible.
 */
#ifndef CSI_FAKENODE_SMB_FAKE_H
#define CSI_FAKENODE_SMB_FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "network_faults.h"
#include "smb/host.h"

/* The calls behind the steps. */
#define CSI_FAKE_SMB_GET_STATE "WNetGetResourceInformationW"
#define CSI_FAKE_SMB_ADD "WNetAddConnection4W"
#define CSI_FAKE_SMB_REMOVE "WNetCancelConnection2W"
#define CSI_FAKE_SMB_CHECK "CreateFileW"
#define CSI_FAKE_SMB_TRY "LogonUserW"
#define CSI_FAKE_SMB_FINGERPRINT "BCryptHash"

struct csi_fake_shares;

/* network must outlive it. */
struct csi_fake_shares *csi_fake_shares_new(struct csi_fake_network *network);
void csi_fake_shares_free(struct csi_fake_shares *shares);
const struct csi_smb_host *csi_fake_smb_host(struct csi_fake_shares *shares);

/* ---- Scene. ---- */

/* Does what `share` and the words say (docs/TESTBED.md). */
void csi_fake_shares_do(struct csi_fake_shares *shares, const char *words);
/* Sessions end: from now on a mapping works only if the server still takes what it was made with. */
void csi_fake_shares_cut_sessions(struct csi_fake_shares *shares);
/* The user may look below the root of the share only: check gives 5. */
void csi_fake_shares_deny_root(struct csi_fake_shares *shares, const char *root);

/* How this node answers. The default: it tells states, compares credentials, can try them. */
struct csi_fake_smb_abilities {
  bool hides_state;         /* get_state tells UNKNOWN of every share */
  bool hides_absence;       /* get_state tells UNKNOWN of shares that are not mapped */
  bool cannot_compare;      /* add over any mapping gives CSI_SMB_ALREADY_ASSIGNED */
  bool adds_anything;       /* add over any mapping says that it did it */
  bool cannot_try;          /* try_credentials is UNIMPLEMENTED, as it always is for an empty username */
  bool keeps_what_it_ended; /* remove says that it did it, and does not */
};
void csi_fake_shares_set_abilities(struct csi_fake_shares *shares,
                                   const struct csi_fake_smb_abilities *abilities);

/* ---- What is there now. ---- */

bool csi_fake_shares_is_mapped(struct csi_fake_shares *shares, const char *root);
/* True when the share is mapped with these credentials. */
bool csi_fake_shares_is_mapped_with(struct csi_fake_shares *shares, const char *root, const char *user,
                                    const char *password);
bool csi_fake_shares_is_private(struct csi_fake_shares *shares, const char *root);
/* How many mappings there are. */
size_t csi_fake_shares_count(struct csi_fake_shares *shares);

/* The testbed's command `share` (docs/TESTBED.md). As csi_fake_command_run() of command_line.h. */
bool csi_fake_smb_command(struct csi_fake_shares *shares, const char *line, char *reply, size_t reply_bytes,
                          bool *done_out);

#endif
