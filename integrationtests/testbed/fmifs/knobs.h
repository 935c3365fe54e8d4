/* SPDX-License-Identifier: Apache-2.0
 *
 * What the formatting stand-in shall do wrong: words separated by blanks. Portable.
 *
 *   slow=MS     each of the 10 steps takes so long
 *   fail=CODE   reports this callback command at a step (0x08 = volume in use), and failure
 *   hang        stops at a step for ever
 *   crash       ends the process at a step
 *   step=N      which step that is, 0 to 10: 0 = before anything is touched, otherwise what was on the volume
 *               is gone; 5 unless given
 *   silent      formats, and returns without having said that it is done
 */
#ifndef CSI_TESTBED_FMIFS_KNOBS_H
#define CSI_TESTBED_FMIFS_KNOBS_H

#include <stdbool.h>
#include <stdint.h>

enum {
  FMIFS_STEPS = 10,
  FMIFS_DEFAULT_STEP = 5,
  FMIFS_KNOBS_BYTES = 512,
};

struct fmifs_knobs {
  uint32_t step_ms;
  uint32_t step; /* of the three below */
  uint32_t fail_code;
  bool fails, hangs, crashes;
  bool is_silent;
};

/* Reads the words. An unknown one makes it false: a fault with a typing error tests nothing. text is
 * changed. */
bool fmifs_knobs_parse(char *text, struct fmifs_knobs *knobs_out);

#endif
