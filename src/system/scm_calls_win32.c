/* SPDX-License-Identifier: Apache-2.0 */
#include "system/scm_calls_win32.h"

/* Nothing else may stand in this file: see the header. */
const struct csi_scm_calls csi_scm = {
    .open_service = OpenServiceW,
    .control_service = ControlService,
    .enum_dependent_services = EnumDependentServicesW,
};
