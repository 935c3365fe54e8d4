/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of commands: a state in memory, and command lines on it. Include cmocka.h before it.
 */
#ifndef CSI_TESTBED_NETWORK_COMMAND_FIXTURE_H
#define CSI_TESTBED_NETWORK_COMMAND_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>

#include "driver/text.h"
#include "driver/words.h"
#include "state.h"

typedef bool (*command_run)(struct network_state *state, struct vdisk_words *words, struct vdisk_text *reply,
                            const char **problem_out);

struct scene {
  struct network_state state;
  command_run run;
  char reply[1024];
};

static inline int make_scene(void **context, command_run run) {
  struct scene *scene = calloc(1, sizeof *scene);
  *context = scene;
  if (scene != NULL) scene->run = run;
  return scene == NULL;
}

static inline int free_scene(void **context) {
  struct scene *scene = *context;
  assert_false(scene->state.is_broken);
  network_state_clear(&scene->state);
  free(scene);
  return 0;
}

/* What is wrong with a command; NULL when it was done. */
static inline const char *problem_of(struct scene *scene, const char *command_line) {
  char line[512];
  struct vdisk_words words;
  struct vdisk_text reply;
  const char *problem = NULL;
  snprintf(line, sizeof line, "%s", command_line);
  assert_true(vdisk_words_split(&words, line));
  vdisk_text_init(&reply, scene->reply, sizeof scene->reply);
  bool done = scene->run(&scene->state, &words, &reply, &problem);
  assert_int_equal(done, problem == NULL);
  return problem;
}

static inline void command(struct scene *scene, const char *command_line) {
  const char *problem = problem_of(scene, command_line);
  if (problem != NULL) fail_msg("%s: %s", command_line, problem);
}

/* Each must be refused and change nothing. */
static inline void assert_refused(struct scene *scene, const char *const *command_lines, size_t count) {
  scene->state.is_changed = false;
  for (size_t i = 0; i < count; i++)
    if (problem_of(scene, command_lines[i]) == NULL) fail_msg("\"%s\" was done", command_lines[i]);
  assert_false(scene->state.is_changed);
}

#endif
