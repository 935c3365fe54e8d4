/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of shares. What Wine opens as `\\host\share` is the folder `unc/host/share` beside the links of
 * its drives; a share's folder is there while programs can reach it, and below C:\csi-testbed\shares while
 * they cannot. Files that are open stay open when it moves.
 */
#ifndef CSI_TESTBED_NETWORK_SHARE_FOLDERS_H
#define CSI_TESTBED_NETWORK_SHARE_FOLDERS_H

#include <stdbool.h>

#include "state.h"

/* Moves the folders of all shares to where they belong. To be called after each change of shares and
 * mappings, with the network open. Folders that are missing are made; folders of shares that are no more are
 * removed with what is in them. False, with the last error, when one cannot be moved. */
bool network_share_folders_place(const struct network_state *state);

#endif
