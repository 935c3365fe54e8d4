/* SPDX-License-Identifier: Apache-2.0
 *
 * The key of the registry by which the Event Log finds the texts of this program's events.
 */
#ifndef CSI_SERVICE_EVENT_SOURCE_WIN32_H
#define CSI_SERVICE_EVENT_SOURCE_WIN32_H

#include "base/arena.h"
#include "base/status.h"

/* Registers the source "csi-proxy" of the Application log, with the texts in the program `executable`.
 *
 * made_out: true when the source was not there before; may be NULL. Needs administrator's rights. */
bool csi_event_source_register(struct csi_arena *arena, const char *executable, bool *made_out,
                               struct csi_status *status) CSI_MUST_CHECK;

/* Removes it when its texts are in the program `executable`: otherwise it is another service's, and stays.
 * One that is not there is success. */
bool csi_event_source_remove(struct csi_arena *arena, const char *executable,
                             struct csi_status *status) CSI_MUST_CHECK;

#endif
