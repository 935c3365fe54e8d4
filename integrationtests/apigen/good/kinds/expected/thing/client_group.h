/* SPDX-License-Identifier: Apache-2.0
 *
 * What the client runtime knows of the thing group.
 * Made by csi-proxy-api-gen from proto/thing/group.proto and its versions. Do not edit.
 */
#ifndef CSI_GEN_THING_CLIENT_GROUP_H
#define CSI_GEN_THING_CLIENT_GROUP_H

#include "client/runtime.h"

extern const struct csi_client_group csi_thing_client_group;

#endif
