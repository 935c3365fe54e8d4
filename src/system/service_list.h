/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of services as the service manager hands them over (an array of ENUM_SERVICE_STATUSW, 64-bit
 * Windows). Portable and pure; every pointer and length is checked.
 */
#ifndef CSI_SYSTEM_SERVICE_LIST_H
#define CSI_SYSTEM_SERVICE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "csi-proxy/bytes.h"

enum {
  CSI_SERVICE_ENTRY_BYTES = 48, /* sizeof(ENUM_SERVICE_STATUSW) */
};

/* Reads the key names of count services.
 *
 * bytes: the whole buffer, entries first; the names they point to stand behind them.
 * address: where the buffer was when the pointers in it were made.
 * names_out: count names, UTF-8, in the arena.
 * Fails with DATA_LOSS when something leaves the buffer or is no name, RESOURCE_EXHAUSTED. */
bool csi_service_list_parse(struct csi_arena *arena, const struct csi_bytes *bytes, uint64_t address,
                            size_t count, const char ***names_out, struct csi_status *status) CSI_MUST_CHECK;

#endif
