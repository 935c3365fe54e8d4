/* SPDX-License-Identifier: Apache-2.0 */
#include "knobs.h"

#include "driver/words.h"

static bool read_number(struct vdisk_words *words, const char *key, uint32_t max, uint32_t *number_inout) {
  const char *value = vdisk_words_value(words, key);
  uint64_t number;
  if (value == NULL) return true;
  if (!vdisk_number_parse(value, &number) || number > max) return false;
  *number_inout = (uint32_t)number;
  return true;
}

bool fmifs_knobs_parse(char *text, struct fmifs_knobs *knobs_out) {
  struct vdisk_words words;
  *knobs_out = (struct fmifs_knobs){.step = FMIFS_DEFAULT_STEP, .fail_code = UINT32_MAX};
  if (!vdisk_words_split(&words, text)) return false;
  if (!read_number(&words, "slow", UINT32_MAX - 1, &knobs_out->step_ms) ||
      !read_number(&words, "step", FMIFS_STEPS, &knobs_out->step) ||
      !read_number(&words, "fail", UINT32_MAX - 1, &knobs_out->fail_code)) {
    return false;
  }
  knobs_out->fails = knobs_out->fail_code != UINT32_MAX;
  knobs_out->hangs = vdisk_words_flag(&words, "hang");
  knobs_out->crashes = vdisk_words_flag(&words, "crash");
  knobs_out->is_silent = vdisk_words_flag(&words, "silent");
  return vdisk_words_unused(&words) == NULL;
}
