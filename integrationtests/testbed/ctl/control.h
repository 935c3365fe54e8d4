/* SPDX-License-Identifier: Apache-2.0
 *
 * The connection to the driver: one command line in, a text out. For one thread.
 */
#ifndef CSI_TESTBED_CTL_CONTROL_H
#define CSI_TESTBED_CTL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum {
  CSI_CTL_ERROR_BYTES = 1024,
};

/* Why something failed, for the person at the terminal. One line, without a newline. */
struct csi_ctl_error {
  char text[CSI_CTL_ERROR_BYTES];
};

/* Both return false, so that a failure is one statement. The second adds the Win32 error number and its
 * text, or, for numbers that SetupDi made, the number alone. */
bool csi_ctl_fail(struct csi_ctl_error *error, const char *format, ...)
    __attribute__((format(gnu_printf, 2, 3)));
bool csi_ctl_fail_win32(struct csi_ctl_error *error, uint32_t number, const char *format, ...)
    __attribute__((format(gnu_printf, 3, 4)));

struct csi_control_device;

/* Opens the driver's control device; NULL when the driver does not run. Close it with
 * csi_control_close(). */
struct csi_control_device *csi_control_open(struct csi_ctl_error *error);
void csi_control_close(struct csi_control_device *control);

/* Has the driver execute one command. *reply_out: its answer, complete lines or nothing; it belongs to
 * control and lives until the next command. When the driver refuses, the error is the driver's own text. */
bool csi_control_send(struct csi_control_device *control, const char *line, const char **reply_out,
                      struct csi_ctl_error *error);

#endif
