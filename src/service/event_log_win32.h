/* SPDX-License-Identifier: Apache-2.0
 *
 * The Event Log of Windows, as a sink.
 */
#ifndef CSI_SERVICE_EVENT_LOG_WIN32_H
#define CSI_SERVICE_EVENT_LOG_WIN32_H

#include "service/event_log.h"

/* Reports to the source csi-proxy of the Application log (RegisterEventSourceW, ReportEventW). Needs no
 * privilege. Without the source in the registry (csi-proxy.exe install makes it) the events come all the
 * same, but the Event Viewer has no text for them and shows their strings. Lives for the whole process. */
const struct csi_event_sink *csi_event_sink_win32(void);

#endif
