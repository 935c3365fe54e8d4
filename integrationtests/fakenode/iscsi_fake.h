/* SPDX-License-Identifier: Apache-2.0
 *
 * The node's iSCSI initiator and the targets it reaches, behind the host interface of the iSCSI group.
 * Portals, targets and sessions are records of the testbed's network, with its rules
 * (../testbed/iscsidsc/targets.h); a session attaches the disks of its target to a storage fake, and the end
 * of the last one unplugs them. Steps are counted, and fail or hang, under the names of their calls
 * (network_faults.h).
 *
 *   struct csi_fake_iscsi *iscsi = csi_fake_iscsi_new(network, storage);
 *   csi_fake_iscsi_do(iscsi, "target add iqn=" IQN " portal=192.0.2.1:3260");
 *   csi_fake_iscsi_do(iscsi, "target lun iqn=" IQN " number=5 size=64M file=lun5");
 *
 * A login that was given up goes on: its session comes when the target's login-delay is over, and until then
 * the target takes no other (as with the calls of win32/library_call.h). Every function may be called from
 * any thread.
 */
#ifndef CSI_FAKENODE_ISCSI_FAKE_H
#define CSI_FAKENODE_ISCSI_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/text.h"
#include "driver/words.h"
#include "iscsi/host.h"
#include "network_faults.h"
#include "storage_fake.h"

/* The names of the steps. */
#define CSI_FAKE_ISCSI_LIST_PORTALS "ReportIScsiSendTargetPortalsExW"
#define CSI_FAKE_ISCSI_ADD_PORTAL "AddIScsiSendTargetPortalW"
#define CSI_FAKE_ISCSI_REFRESH_PORTAL "RefreshIScsiSendTargetPortalW"
#define CSI_FAKE_ISCSI_REMOVE_PORTAL "RemoveIScsiSendTargetPortalW"
#define CSI_FAKE_ISCSI_LIST_TARGETS "ReportIScsiTargetsW"
#define CSI_FAKE_ISCSI_LIST_SESSIONS "GetIScsiSessionListW"
#define CSI_FAKE_ISCSI_LOGIN "LoginIScsiTargetW"
#define CSI_FAKE_ISCSI_LOGOUT "LogoutIScsiTarget"
#define CSI_FAKE_ISCSI_LIST_PERSISTENT "ReportIScsiPersistentLoginsW"
#define CSI_FAKE_ISCSI_REMOVE_PERSISTENT "RemoveIScsiPersistentTargetW"
#define CSI_FAKE_ISCSI_LIST_DISKS "GetDevicesForIScsiSessionW"
#define CSI_FAKE_ISCSI_SET_SECRET "SetIScsiInitiatorCHAPSharedSecret"

struct csi_fake_iscsi;

/* Both must outlive the fake; one fake a network. csi_fake_network_reset() removes its disks as well. */
struct csi_fake_iscsi *csi_fake_iscsi_new(struct csi_fake_network *network, struct csi_fake_storage *storage);
void csi_fake_iscsi_free(struct csi_fake_iscsi *iscsi);
const struct csi_iscsi_host *csi_fake_iscsi_host(struct csi_fake_iscsi *iscsi);

/* ---- Scene. ---- */

/* Does what a command says (iscsi_command.h). words: behind its first word, which is noun. */
bool csi_fake_iscsi_execute(struct csi_fake_iscsi *iscsi, const char *noun, struct vdisk_words *words,
                            struct vdisk_text *reply, const char **problem_out);

/* Registers a portal in exactly this spelling, as somebody else would, without asking it for its targets. */
void csi_fake_iscsi_register(struct csi_fake_iscsi *iscsi, const char *address, uint16_t port);

/* From here on a call on the object, the name of a target or `ADDRESS:PORT`, goes on that somebody has given
 * up. All of these end without having changed anything; the logins that were given up end as well, and log
 * in. */
void csi_fake_iscsi_begin_late_call(struct csi_fake_iscsi *iscsi, const char *object);
void csi_fake_iscsi_end_late_calls(struct csi_fake_iscsi *iscsi);

/* ---- What happened. ---- */

/* How many records of the kind there are, of one target or (NULL) all: "session", "persistent-login",
 * "send-targets", "discovered". */
size_t csi_fake_iscsi_count(struct csi_fake_iscsi *iscsi, const char *kind, const char *iqn);

/* What the last login brought; authentication is -1 when there was none yet. */
struct csi_fake_login {
  int authentication; /* enum csi_iscsi_authentication */
  char target[CSI_ISCSI_NAME_BYTES];
  struct csi_iscsi_portal portal;
  bool has_user, has_secret;
};
struct csi_fake_login csi_fake_iscsi_last_login(struct csi_fake_iscsi *iscsi);

#endif
