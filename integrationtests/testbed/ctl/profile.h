/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of profiles: one command a line, blanks around it, comments from # to the end of the line.
 * `${NAME}` is replaced; a value is written with %XX escapes where the driver would otherwise see a
 * separator. Portable.
 */
#ifndef CSI_TESTBED_CTL_PROFILE_H
#define CSI_TESTBED_CTL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

enum {
  CSI_PROFILE_LINE_BYTES = 4096,
};

struct csi_profile_variable {
  const char *name;
  const char *value;
};

/* Why a line is not usable. */
enum csi_profile_result {
  CSI_PROFILE_COMMAND, /* a command is in line_out */
  CSI_PROFILE_NOTHING, /* blank, or only a comment */
  CSI_PROFILE_TOO_LONG,
  CSI_PROFILE_UNKNOWN_VARIABLE, /* its name is in line_out */
  CSI_PROFILE_NOT_ASCII,
};

/* Makes a command of one line of a profile. text: length_bytes bytes, with or without its line end.
 * variables: ends with a name that is NULL. */
enum csi_profile_result csi_profile_read_line(const char *text, size_t length_bytes,
                                              const struct csi_profile_variable *variables,
                                              char line_out[CSI_PROFILE_LINE_BYTES]);

/* What a result other than CSI_PROFILE_COMMAND and CSI_PROFILE_NOTHING means. */
const char *csi_profile_problem(enum csi_profile_result result);

#endif
