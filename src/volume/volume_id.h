/* SPDX-License-Identifier: Apache-2.0
 *
 * How volumes are called: `\\?\Volume{guid}\`. Pure functions.
 */
#ifndef CSI_VOLUME_VOLUME_ID_H
#define CSI_VOLUME_VOLUME_ID_H

#include <stdbool.h>

#include "base/guid.h"
#include "disk/host.h"

/* Reads a volume id in any usual spelling: with `\\?\`, `\\.\`, `\??\` or no prefix, with or without the
 * backslash at the end, in either case. False, with guid_out untouched, when it is anything else. */
bool csi_volume_id_parse(const char *text, struct csi_guid *guid_out);

/* Writes `\\?\Volume{guid}\`, in lower case, as Windows spells it. */
void csi_volume_id_format(const struct csi_guid *guid, char text_out[CSI_VOLUME_ID_BYTES]);

#endif
