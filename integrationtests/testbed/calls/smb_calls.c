/* SPDX-License-Identifier: Apache-2.0 */
#include <csi-proxy/smb.h>

#include "calls.h"

static enum csi_code new_smb_global_mapping(struct call *call) {
  CALL(smb, new_smb_global_mapping, .remote_path = call->word[0], .username = call->word[1],
       .password = call->word[2], .local_path = call->word[3]);
  csi_response_free(response);
  return code;
}

static enum csi_code remove_smb_global_mapping(struct call *call) {
  CALL(smb, remove_smb_global_mapping, call->word[0]);
  csi_response_free(response);
  return code;
}

const struct call_rpc smb_rpcs[] = {
    {"NewSmbGlobalMapping", new_smb_global_mapping},       /* SHARE [USER PASSWORD [LINK]] */
    {"RemoveSmbGlobalMapping", remove_smb_global_mapping}, /* SHARE */
    {NULL, NULL},
};
