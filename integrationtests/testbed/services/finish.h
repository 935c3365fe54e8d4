/* SPDX-License-Identifier: Apache-2.0
 *
 * How `service finish` tells a test service that what it is doing has taken long enough.
 */
#ifndef CSI_TESTBED_SERVICES_FINISH_H
#define CSI_TESTBED_SERVICES_FINISH_H

/* The name of an event that resets itself; %ls: the service. It is there while the service runs. */
#define CSI_TEST_SERVICE_EVENT L"Global\\csi-test-service-%ls"

enum { CSI_TEST_SERVICE_EVENT_UNITS = 320 };

#endif
