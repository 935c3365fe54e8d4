/* SPDX-License-Identifier: Apache-2.0 */
#include "service/install_win32.h"

#include <stdio.h>

#include "service/event_source_win32.h"
#include "service/installer_win32.h"
#include "service/program_file_win32.h"

enum {
  ARGUMENTS_BYTES = 1 << 20,
};

/* -- install ---------------------------------------------------------------------------------------- */

/* What an install has done so far, to be undone when the rest fails. */
struct done {
  struct csi_program_swap swap;
  bool created, source_made;
};

/* Keeps the first failure; one while undoing is only told. */
static void undo(struct csi_installer *installer, const struct csi_install_config *wanted,
                 struct done *done) {
  struct csi_status status = {0};
  if (done->created) {
    struct csi_status why = installer->status;
    if (!csi_installer_stop(installer, wanted))
      csi_installer_say("while undoing: %s", installer->status.text);
    installer->status = why;
    if (!csi_scm_delete(&installer->service, &status)) csi_installer_say("while undoing: %s", status.text);
  }
  if (done->source_made && !csi_event_source_remove(installer->arena, wanted->executable, &status))
    csi_installer_say("while undoing: %s", status.text);
  if (!csi_program_file_swap_back(installer->arena, &done->swap, &status))
    csi_installer_say("while undoing: %s", status.text);
  csi_installer_say("the installation has been undone");
}

static bool copy_program(struct csi_installer *installer, const struct csi_install_config *wanted,
                         struct done *done) {
  struct csi_status *status = &installer->status;
  char *own = csi_program_file_own(installer->arena, status);
  bool same = false;
  if (own == NULL || !csi_installer_make_program_directory(installer, wanted) ||
      !csi_program_file_compare(installer->arena, own, wanted->executable, &same, status))
    return false;
  return same || (csi_program_file_stage(installer->arena, own, wanted->executable, &done->swap, status) &&
                  csi_program_file_swap(installer->arena, &done->swap, status));
}

static bool create(struct csi_installer *installer, const struct csi_install_config *wanted,
                   struct done *done) {
  struct csi_status *status = &installer->status;
  if (installer->options->to[0] != '\0' && !copy_program(installer, wanted, done)) return false;
  if (!csi_program_file_exists(installer->arena, wanted->executable))
    return csi_fail(status, CSI_NOT_FOUND, "there is no program %s", wanted->executable);
  if (!csi_installer_make_log_directories(installer, wanted)) return false;
  done->created = csi_scm_create(&installer->service, installer->arena, wanted, status);
  return done->created && csi_installer_set_extras(installer, wanted) &&
         csi_event_source_register(installer->arena, wanted->executable, &done->source_made, status);
}

static bool start(struct csi_installer *installer, const struct csi_install_config *wanted) {
  size_t pipes;
  if (!csi_installer_start(installer, wanted, &pipes)) return false;
  csi_installer_say("service %s runs: %zu pipes answer", installer->service.name, pipes);
  return true;
}

static bool install_new(struct csi_installer *installer, const struct csi_install_config *wanted) {
  struct done done = {0};
  bool installed = csi_installer_check(installer, wanted) && create(installer, wanted, &done);
  if (installed)
    csi_installer_say("service %s is installed: %s", installer->service.name, wanted->executable);
  if (installed && (!installer->options->start || start(installer, wanted))) return true;
  if (done.created || done.swap.done) undo(installer, wanted, &done);
  return false;
}

/* There is one already: that is success when it is the one that is wanted. */
static bool accept_present(struct csi_installer *installer, const struct csi_install_config *present,
                           const struct csi_install_config *wanted) {
  struct csi_installer_difference difference;
  char *own = csi_program_file_own(installer->arena, &installer->status);
  bool copies = installer->options->to[0] != '\0';
  if (own == NULL || !csi_installer_compare(installer, present, wanted, copies ? own : NULL, &difference))
    return false;
  if (difference.file || difference.config)
    return csi_fail(
        &installer->status, CSI_ALREADY_EXISTS,
        "service %s is installed, but not like that (see above): to change it, use the verb upgrade",
        installer->service.name);
  csi_installer_say("service %s is installed already, just like that", installer->service.name);
  return !installer->options->start || start(installer, wanted);
}

bool csi_install_service(struct csi_installer *installer) {
  struct csi_install_config wanted, present;
  bool exists;
  if (!csi_installer_want_given(installer, &wanted) || !csi_installer_find(installer, &exists, &present))
    return false;
  if (exists && installer->options->upgrade) return csi_upgrade_service(installer);
  return exists ? accept_present(installer, &present, &wanted) : install_new(installer, &wanted);
}

/* -- uninstall -------------------------------------------------------------------------------------- */

/* The service, or all of it that an earlier removal has left. present->executable: "" = not known. */
static bool remove_service(struct csi_installer *installer, struct csi_install_config *present) {
  struct csi_status *status = &installer->status;
  bool exists;
  if (!csi_installer_find(installer, &exists, present)) return false;
  if (exists) return csi_installer_stop(installer, present) && csi_scm_delete(&installer->service, status);
  csi_installer_say("there is no service %s", installer->service.name);
  const char *to = installer->options->to;
  present->executable = to[0] == '\0' ? "" : csi_program_file_absolute(installer->arena, to, status);
  return present->executable != NULL;
}

bool csi_uninstall_service(struct csi_installer *installer) {
  struct csi_status *status = &installer->status;
  struct csi_install_config present;
  if (!remove_service(installer, &present)) return false;
  if (present.executable[0] == '\0') return true;
  bool deletes = installer->options->delete_program;
  if (!csi_event_source_remove(installer->arena, present.executable, status) ||
      (deletes && !csi_program_file_delete(installer->arena, present.executable, status)))
    return false;
  csi_installer_say(deletes ? "service %s and its program %s are removed; its logs are left"
                            : "service %s is removed; its program %s and its logs are left",
                    installer->service.name, present.executable);
  return true;
}

/* -- The verbs -------------------------------------------------------------------------------------- */

static enum csi_exit run(const struct csi_install_options *options) {
  static bool (*const works[])(struct csi_installer *) = {
      [CSI_VERB_INSTALL] = csi_install_service,
      [CSI_VERB_UNINSTALL] = csi_uninstall_service,
      [CSI_VERB_UPGRADE] = csi_upgrade_service,
  };
  if (options->keep) return csi_install_keep(options);
  struct csi_status status = {0};
  if (csi_installer_run(options, works[options->verb], &status)) return CSI_EXIT_OK;
  fprintf(stderr, "csi-proxy: %s\n", status.text);
  return csi_installer_exit(&status);
}

enum csi_exit csi_install_run(int argc, char *const *argv) {
  struct csi_arena *arena = csi_arena_new(ARGUMENTS_BYTES);
  if (arena == NULL) {
    fputs("csi-proxy: out of memory\n", stderr);
    return CSI_EXIT_START;
  }
  struct csi_install_options options;
  struct csi_status status = {0};
  enum csi_exit result = CSI_EXIT_OK;
  switch (csi_install_parse(arena, argc, argv, &options, &status)) {
  case CSI_OPTIONS_RUN:
    result = run(&options);
    break;
  case CSI_OPTIONS_HELP:
    csi_install_print_usage(stderr, options.verb);
    break;
  case CSI_OPTIONS_INVALID:
    fprintf(stderr, "%s\n", status.text);
    csi_install_print_usage(stderr, options.verb);
    result = CSI_EXIT_CONFIG;
    break;
  }
  csi_arena_free(arena);
  return result;
}
