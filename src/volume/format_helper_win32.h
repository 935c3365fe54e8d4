/* SPDX-License-Identifier: Apache-2.0
 *
 * The format helper: what this program is when its only argument is CSI_FORMAT_HELPER_ARGUMENT. Reads one
 * job (format_protocol.h) from its standard input, formats, reports on its standard output, ends. Not for
 * people: it asks no questions, and none of the rules of the service guard it.
 */
#ifndef CSI_VOLUME_FORMAT_HELPER_WIN32_H
#define CSI_VOLUME_FORMAT_HELPER_WIN32_H

#include <stdbool.h>
#include <wchar.h>

#define CSI_FORMAT_HELPER_ARGUMENT L"format-volume-helper"

/* True when this process is to be the helper. */
bool csi_format_helper_is_wanted(int argc, wchar_t *const *argv_w);

/* Returns the exit code of the process. To be called once, before any other thread exists. */
int csi_format_helper_run(void);

#endif
