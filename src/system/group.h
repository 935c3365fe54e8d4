/* SPDX-License-Identifier: Apache-2.0
 *
 * The system group: what its RPCs do. The prototypes of the handlers themselves are generated
 * (system/handlers.h in the build tree).
 */
#ifndef CSI_SYSTEM_GROUP_H
#define CSI_SYSTEM_GROUP_H

#include "base/keyed_lock.h"
#include "base/status.h"
#include "system/host.h"

/* Services that StopService refuses, and every one that would have to be stopped with them; see
 * docs/SECURITY.md for why each is there. Separated by commas. */
#define CSI_SYSTEM_PROTECTED_SERVICES                                                                        \
  "csiproxy,csi-proxy,kubelet,kube-proxy,kubeproxy,containerd,docker,rancher-wins,rke2,hns,vmcompute,"       \
  "RpcSs,RpcEptMapper,DcomLaunch,LSM,SamSs,KeyIso,ProfSvc,gpsvc,EventLog,PlugPlay,Power,CryptSvc,BFE,"       \
  "mpssvc,WinDefend,Sense,Dhcp,Dnscache,nsi,NlaSvc,LanmanWorkstation,LanmanServer,Schedule,"                 \
  "TrustedInstaller,Netlogon,CalicoNode,CalicoFelix,flanneld,antrea-agent,ovs-vswitchd,ovsdb-server,"        \
  "VMTools,vmicheartbeat,WindowsAzureGuestAgent,RdAgent,AmazonSSMAgent,GCEAgent"

/* The group's state: its configuration. Handlers may run in any number of threads. */
struct csi_system;

enum {
  CSI_SERVICE_PATIENCE_MS = 30 * 1000, /* as long as the original waited in all */
};

struct csi_system_options {
  const char *protected_services; /* separated by commas, without regard to case; "" = none; copied */
  /* How long a service may go without progress while it starts or stops; 0 = CSI_SERVICE_PATIENCE_MS. */
  uint32_t patience_ms;
};

/* Makes the group. host and locks must outlive it. NULL with status on failure. */
struct csi_system *csi_system_new(const struct csi_system_options *options,
                                  const struct csi_system_host *host, struct csi_keyed_locks *locks,
                                  struct csi_status *status) CSI_MUST_CHECK;

/* Frees the group. No handler may be running. NULL is accepted. */
void csi_system_free(struct csi_system *group);

#endif
