/* SPDX-License-Identifier: Apache-2.0 */
#include "smb/failure.h"

#include <stddef.h>

#include "base/system_error.h"
#include "smb/host.h"

/* Further numbers of winerror.h by which a server refuses a session. Missing on purpose are those that come
 * with a network, a server or a domain controller that is away: 51, 53, 54, 59, 64, 121, 1231, 1311, and 67,
 * for a share that is gone gets no better by a new mapping. */
enum {
  NOT_AUTHENTICATED = 1244,
  NO_SUCH_LOGON_SESSION = 1312,
  ACCOUNT_RESTRICTION = 1327,
  INVALID_LOGON_HOURS = 1328,
  INVALID_WORKSTATION = 1329,
  PASSWORD_EXPIRED = 1330,
  ACCOUNT_DISABLED = 1331,
  LOGON_TYPE_NOT_GRANTED = 1385,
  ACCOUNT_EXPIRED = 1793,
  PASSWORD_MUST_CHANGE = 1907,
  ACCOUNT_LOCKED_OUT = 1909,
};

static const uint32_t refusals[] = {
    CSI_SMB_ACCESS_DENIED,    CSI_SMB_NETWORK_ACCESS_DENIED,
    CSI_SMB_INVALID_PASSWORD, CSI_SMB_SESSION_CREDENTIAL_CONFLICT,
    NOT_AUTHENTICATED,        NO_SUCH_LOGON_SESSION,
    CSI_SMB_LOGON_FAILURE,    ACCOUNT_RESTRICTION,
    INVALID_LOGON_HOURS,      INVALID_WORKSTATION,
    PASSWORD_EXPIRED,         ACCOUNT_DISABLED,
    LOGON_TYPE_NOT_GRANTED,   ACCOUNT_EXPIRED,
    PASSWORD_MUST_CHANGE,     ACCOUNT_LOCKED_OUT,
    CSI_SMB_BAD_USERNAME,     CSI_SMB_NOT_CONNECTED,
};

struct advice {
  uint32_t error;
  const char *text;
};

static const struct advice advices[] = {
    {CSI_SMB_ACCESS_DENIED,
     "the server does not let this user in: check the permissions of the share, and that "
     "the user belongs to this server or its domain"},
    {CSI_SMB_BAD_NETPATH,
     "the server does not answer: check the name, DNS, and that TCP port 445 is open from "
     "this node"},
    {CSI_SMB_NETWORK_ACCESS_DENIED, "the server may not support SMB encryption: switch it on there, or start "
                                    "this service with -require-privacy=false"},
    {CSI_SMB_BAD_NET_NAME,
     "the server has no such share, or it is a DFS namespace, which global mappings do not "
     "follow: check the name of the share"},
    {CSI_SMB_ALREADY_ASSIGNED, "the share is mapped already with other credentials: end that mapping with "
                               "RemoveSmbGlobalMapping first"},
    {CSI_SMB_INVALID_PASSWORD, "check username and password in the secret"},
    {CSI_SMB_SESSION_CREDENTIAL_CONFLICT,
     "this node is connected to the same server as another user: use the same user for all its shares, end "
     "the "
     "other mappings with RemoveSmbGlobalMapping, or name the server by another alias"},
    {CSI_SMB_LOGON_FAILURE,
     "check username and password in the secret; for a local user of the server, write "
     "SERVER\\user"},
    {CSI_SMB_BAD_USERNAME, "check the username in the secret: DOMAIN\\user, SERVER\\user or user@domain"},
    {PASSWORD_EXPIRED, "change the password on the server, then in the secret"},
    {ACCOUNT_DISABLED, "enable the account on the server"},
    {PASSWORD_MUST_CHANGE, "change the password on the server, then in the secret"},
    {ACCOUNT_LOCKED_OUT, "unlock the account on the server, and look for who uses an old password"},
};

bool csi_smb_failed_with(const struct csi_status *status, uint32_t error) {
  return status->space != CSI_SPACE_NONE && csi_win32_of_system_error(status->space, status->number) == error;
}

bool csi_smb_is_conflict(const struct csi_status *status) {
  return csi_smb_failed_with(status, CSI_SMB_ALREADY_ASSIGNED) ||
         csi_smb_failed_with(status, CSI_SMB_SESSION_CREDENTIAL_CONFLICT);
}

bool csi_smb_is_refusal(const struct csi_status *status) {
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (csi_smb_failed_with(status, refusals[i])) return true;
  return false;
}

bool csi_smb_advise(struct csi_status *status) {
  for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
    if (csi_smb_failed_with(status, advices[i].error)) return csi_advise(status, "; %s", advices[i].text);
  return false;
}
