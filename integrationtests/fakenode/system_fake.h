/* SPDX-License-Identifier: Apache-2.0
 *
 * The services and the firmware of a node in memory, behind the host interface of the system group. Services
 * start and stop as they are told to: at once, slowly with check points, never, with an error. Faults, hooks
 * and counts are those of network_faults.h, under the names of the Win32 calls.
 *
 *   csi_fake_system_add(system, &(struct csi_fake_service){.name = "web", .state = CSI_SERVICE_RUNNING});
 *
 * Every function may be called from any thread. Scene functions abort the program when the scene is
 * impossible.
 */
#ifndef CSI_FAKENODE_SYSTEM_FAKE_H
#define CSI_FAKENODE_SYSTEM_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network_faults.h"
#include "system/host.h"

enum {
  CSI_FAKE_SERVICES = 256,    /* most there can be */
  CSI_FAKE_PROCESS_ID = 4711, /* ours */
};

/* SERVICE_*_START */
enum csi_fake_start_type {
  CSI_FAKE_SERVICE_BOOT,
  CSI_FAKE_SERVICE_SYSTEM,
  CSI_FAKE_SERVICE_AUTO,
  CSI_FAKE_SERVICE_MANUAL,
  CSI_FAKE_SERVICE_DISABLED,
};

/* What a service is, and how it behaves. Texts are copied. */
struct csi_fake_service {
  const char *name;
  const char *display_name; /* NULL = the name */
  uint32_t type;            /* 0 = SERVICE_WIN32_OWN_PROCESS */
  uint32_t start_type;
  uint32_t state;          /* 0 = stopped */
  const char *depends;     /* what it needs, separated by commas; NULL = nothing */
  uint32_t start_delay_ms; /* pending for so long, with check points */
  uint32_t stop_delay_ms;
  bool refuse_stop;            /* takes no stop control */
  bool silent;                 /* what is pending stays so, without check points */
  uint32_t fail_start;         /* exit code with which it stops while it starts; 0 = it starts */
  uint32_t specific_exit_code; /* goes with fail_start 1066 */
  uint32_t wait_hint_ms;       /* while something is pending */
  uint32_t process_id;         /* while it is not stopped; 0 = one of its own */
};

struct csi_fake_system;

/* Makes a node without services, with the firmware of a VMware guest. network must outlive it. */
struct csi_fake_system *csi_fake_system_new(struct csi_fake_network *network);
void csi_fake_system_free(struct csi_fake_system *system);
const struct csi_system_host *csi_fake_system_host(struct csi_fake_system *system);

/* ---- Scene. ---- */

void csi_fake_system_add(struct csi_fake_system *system, const struct csi_fake_service *service);
/* False: there is none. */
bool csi_fake_system_remove(struct csi_fake_system *system, const char *name);
bool csi_fake_system_has(struct csi_fake_system *system, const char *name);
void csi_fake_system_remove_all(struct csi_fake_system *system);
/* What is pending comes to its end now. False: there is no such service, or nothing is pending. */
bool csi_fake_system_finish(struct csi_fake_system *system, const char *name);
/* What was pending is over. */
void csi_fake_system_set_state(struct csi_fake_system *system, const char *name, uint32_t state);
void csi_fake_system_set_start_type(struct csi_fake_system *system, const char *name, uint32_t start_type);
/* Lists of dependents have only those that name the service themselves. Otherwise all, as on Windows. */
void csi_fake_system_set_short_lists(struct csi_fake_system *system, bool short_lists);
/* struct RawSMBIOSData; copied. */
void csi_fake_system_set_smbios(struct csi_fake_system *system, const void *bytes, size_t size_bytes);
/* A table with this serial number in its system information. */
void csi_fake_system_set_serial(struct csi_fake_system *system, const char *serial);

/* ---- What happened. ---- */

/* 0: there is no such service. */
uint32_t csi_fake_system_state(struct csi_fake_system *system, const char *name);
/* The nth service, in the order in which they were added; false behind the last. name_out: room for
 * name_bytes; cut. */
bool csi_fake_system_nth(struct csi_fake_system *system, size_t index, char *name_out, size_t name_bytes,
                         uint32_t *state_out);
/* The names of the services that took a stop control, in that order, separated by commas, since the last
 * call. */
void csi_fake_system_take_stops(struct csi_fake_system *system, char *text_out, size_t text_bytes);

#endif
