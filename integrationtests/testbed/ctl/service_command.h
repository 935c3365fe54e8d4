/* SPDX-License-Identifier: Apache-2.0
 *
 * The command `service`: test services in the real service manager. All run csi-test-service.exe, by which
 * they are told from others.
 *
 *   service add name=N [display=T] [start=auto|manual|disabled] [state=running|stopped|paused] [depends=A,B]
 *       [start-delay=MS] [stop-delay=MS] [refuse-stop] [fail-start=CODE] [silent]
 *   service remove name=N|all            ends its process, and waits until the service is gone
 *   service finish name=N                its start-delay or stop-delay, which has begun, is over
 *   service list
 */
#ifndef CSI_TESTBED_CTL_SERVICE_COMMAND_H
#define CSI_TESTBED_CTL_SERVICE_COMMAND_H

#include <stdbool.h>

#include "control.h"
#include "driver/text.h"
#include "driver/words.h"

/* words: with the first one taken. */
bool csi_service_command(struct vdisk_words *words, struct vdisk_text *reply, struct csi_ctl_error *error);

/* Removes all test services. */
bool csi_service_reset(struct csi_ctl_error *error);

#endif
