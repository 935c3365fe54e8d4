/* SPDX-License-Identifier: Apache-2.0
 *
 * The RPCs of the SMB, iSCSI and system groups. Each returns the code and leaves the error in run->error;
 * what they give out is empty when they fail.
 */
#ifndef CSI_CLIENTTESTS_NETWORK_CALLS_H
#define CSI_CLIENTTESTS_NETWORK_CALLS_H

#include <csi-proxy/iscsi.h>
#include <csi-proxy/smb.h>
#include <csi-proxy/system.h>

#include "harness.h"

enum {
  TEXT_BYTES = 256,
  TEXTS_MAX = 64,
};

/* What a list says. */
struct texts {
  size_t count;
  char text[TEXTS_MAX][TEXT_BYTES];
};

/* The SMB group. */
enum csi_code map_share(struct run *run, const struct csi_smb_new_smb_global_mapping_request *request);
enum csi_code unmap_share(struct run *run, const char *remote_path);

/* The iSCSI group. */
enum csi_code add_portal(struct run *run, const struct csi_iscsi_target_portal *portal);
enum csi_code discover(struct run *run, const struct csi_iscsi_target_portal *portal, struct texts *iqns_out);
enum csi_code remove_portal(struct run *run, const struct csi_iscsi_target_portal *portal);
/* As ADDRESS:PORT. */
enum csi_code list_portals(struct run *run, struct texts *portals_out);
enum csi_code log_in(struct run *run, const struct csi_iscsi_connect_target_request *request);
enum csi_code log_out(struct run *run, const struct csi_iscsi_target_portal *portal, const char *iqn);
enum csi_code disks_of(struct run *run, const struct csi_iscsi_target_portal *portal, const char *iqn,
                       struct texts *numbers_out);
enum csi_code set_mutual_secret(struct run *run, const char *secret);

/* The system group. */
struct service_facts {
  char display_name[TEXT_BYTES];
  enum csi_system_start_type start_type;
  enum csi_system_service_status status;
};
enum csi_code serial_number(struct run *run, char text_out[TEXT_BYTES]);
enum csi_code facts_of(struct run *run, const char *name, struct service_facts *facts_out);
enum csi_code start_service(struct run *run, const char *name);
enum csi_code stop_service(struct run *run, const char *name, bool force);

#endif
