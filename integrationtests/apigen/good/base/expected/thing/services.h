/* SPDX-License-Identifier: Apache-2.0
 *
 * What a server of the thing group runs from.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_SERVICES_H
#define CSI_GEN_THING_SERVICES_H

#include "rpc/method.h"

/* Every version, oldest first. The `group` of a binding is a struct csi_thing. */
extern const struct csi_service_list csi_thing_services;

#endif
