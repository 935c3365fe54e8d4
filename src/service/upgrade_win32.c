/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/ctx.h"
#include "base/text.h"
#include "service/event_source_win32.h"
#include "service/installer_win32.h"
#include "service/program_file_win32.h"

enum {
  NANOSECONDS_PER_MS = 1000000,
};

/* -- From one program and configuration to another -------------------------------------------------- */

struct change {
  struct csi_installer *installer;
  const struct csi_install_config *installed, *wanted;
  const struct csi_installer_difference *difference;
  struct csi_scm_kept kept; /* what the service was */
  struct csi_program_swap swap;
  bool starts, configured;
};

static bool apply_config(struct change *change) {
  struct csi_installer *installer = change->installer;
  const struct csi_install_config *wanted = change->wanted;
  change->configured = true;
  return csi_scm_change(&installer->service, installer->arena, wanted, &installer->status) &&
         csi_installer_set_extras(installer, wanted) &&
         csi_event_source_register(installer->arena, wanted->executable, NULL, &installer->status);
}

/* From the stop to the answer of the last pipe: the time in which drivers find no service. */
static bool change_over(struct change *change) {
  struct csi_installer *installer = change->installer;
  struct csi_status *status = &installer->status;
  int64_t begun_ns = csi_now_ns();
  size_t pipes = 0;
  if (!csi_installer_stop(installer, change->installed) ||
      (change->difference->file && !csi_program_file_swap(installer->arena, &change->swap, status)) ||
      !apply_config(change))
    return false;
  if (!change->starts) return true;
  if (!csi_installer_start(installer, change->wanted, &pipes)) return false;
  csi_installer_say("service %s runs: %zu pipes answer, after a pause of %lld ms", installer->service.name,
                    pipes, (long long)((csi_now_ns() - begun_ns) / NANOSECONDS_PER_MS));
  return true;
}

static bool restore_config(struct change *change) {
  struct csi_installer *installer = change->installer;
  return !change->configured ||
         (csi_scm_restore(&installer->service, installer->arena, &change->kept, &installer->status) &&
          csi_event_source_register(installer->arena, change->installed->executable, NULL,
                                    &installer->status));
}

static bool told(struct csi_installer *installer, bool done) {
  if (!done) csi_installer_say("going back: %s", installer->status.text);
  csi_status_clear(&installer->status);
  return done;
}

/* Puts back what change_over() did, and keeps its failure. Every step is tried, whatever became of the one
 * before: nodes need a service, be it the wrong one. */
static void go_back(struct change *change) {
  struct csi_installer *installer = change->installer;
  struct csi_status why = installer->status;
  bool untouched = !change->swap.done && !change->configured;
  size_t pipes = 0;
  csi_status_clear(&installer->status);
  csi_installer_say("it failed: %s", why.text);
  bool back =
      told(installer, csi_installer_stop(installer, untouched ? change->installed : change->wanted)) ||
      untouched;
  back = told(installer, csi_program_file_swap_back(installer->arena, &change->swap, &installer->status)) &&
         back;
  back = told(installer, restore_config(change)) && back;
  bool starts = !change->difference->stopped;
  back = (!starts || told(installer, csi_installer_start(installer, change->installed, &pipes))) && back;
  if (back) csi_installer_say("everything is as it was before%s", starts ? ", and runs" : "");
  installer->status = why;
  csi_advise(&installer->status,
             back        ? "; the service is as it was before"
             : untouched ? "; its program and flags were not changed, but it may not run: start it when "
                           "it has stopped"
                         : "; the service is neither the old one nor the new one: look at it with "
                           "sc.exe qc, and install it again");
}

/* Before anything is touched: what could not be undone is refused. */
static bool check_reversible(struct csi_installer *installer, const struct csi_install_config *installed,
                             const struct csi_install_config *wanted,
                             const struct csi_installer_difference *difference) {
  if (!csi_utf8_equal_ignore_case(installed->account, wanted->account))
    return csi_fail(&installer->status, CSI_FAILED_PRECONDITION,
                    "service %s runs as %s, whose password cannot be put back: first make it %s with sc.exe "
                    "config %s obj= "
                    "%s",
                    installer->service.name, installed->account, wanted->account, installer->service.name,
                    wanted->account);
  return !installed->disabled || difference->stopped ||
         csi_fail(&installer->status, CSI_FAILED_PRECONDITION,
                  "service %s runs but is disabled: it could not be started again", installer->service.name);
}

static bool prepare(struct change *change, const char *source) {
  struct csi_installer *installer = change->installer;
  struct csi_status *status = &installer->status;
  return check_reversible(installer, change->installed, change->wanted, change->difference) &&
         csi_installer_make_log_directories(installer, change->wanted) &&
         csi_installer_make_program_directory(installer, change->wanted) &&
         csi_scm_keep(&installer->service, installer->arena, &change->kept, status) &&
         (!change->difference->file ||
          csi_program_file_stage(installer->arena, source, change->wanted->executable, &change->swap,
                                 status));
}

/* Ctrl-C does not leave a node without a service. At the end of a session there is nobody to wait for this:
 * what it leaves, the next upgrade puts right. */
static BOOL WINAPI finish_first(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  csi_installer_say("this is finished first");
  return TRUE;
}

bool csi_upgrade_to(struct csi_installer *installer, const struct csi_install_config *installed,
                    const struct csi_install_config *wanted, const char *source,
                    const struct csi_installer_difference *difference) {
  struct change change = {
      .installer = installer,
      .installed = installed,
      .wanted = wanted,
      .difference = difference,
      .starts =
          !difference->stopped || (installer->options->start && (!installed->disabled || wanted->auto_start)),
  };
  if (!prepare(&change, source)) return false;
  bool finishes =
      !installer->options->keep; /* -keep hears of it by itself, and looks between two pieces of work */
  if (finishes) SetConsoleCtrlHandler(finish_first, TRUE);
  bool done = change_over(&change);
  if (!done) go_back(&change);
  if (finishes) SetConsoleCtrlHandler(finish_first, FALSE);
  return done;
}

/* -- The verb --------------------------------------------------------------------------------------- */

static void say_what_original_ignored(const struct csi_install_config *installed) {
  if (installed->ignored == NULL) return;
  csi_installer_say(
      "the installed command line goes on with \"%s\", which is no flag: the original ignores this "
      "and all behind it, so it is left out now",
      installed->ignored);
}

static bool want_changed(struct csi_installer *installer, const struct csi_install_config *installed,
                         struct csi_install_config *wanted) {
  const struct csi_install_options *options = installer->options;
  *wanted = (struct csi_install_config){.flags = options->flags};
  csi_installer_fill_wanted(installer, wanted);
  wanted->display_name = installed->display_name;
  wanted->auto_start = installed->auto_start;
  wanted->executable = installed->executable;
  if (options->to[0] != '\0')
    wanted->executable = csi_program_file_absolute(installer->arena, options->to, &installer->status);
  if (wanted->executable == NULL) return false;
  say_what_original_ignored(installed);
  return !options->keep_flags || csi_service_flags_merge(installer->arena, &installed->flags, &options->flags,
                                                         &wanted->flags, &installer->status);
}

/* It is as wanted. An upgrade that was interrupted may have left it stopped. */
static bool start_only(struct csi_installer *installer, const struct csi_install_config *present,
                       const struct csi_installer_difference *difference) {
  size_t pipes;
  csi_installer_say("service %s is this program with these flags already", installer->service.name);
  if (!difference->stopped || !installer->options->start || present->disabled) return true;
  if (!csi_installer_start(installer, present, &pipes)) return false;
  csi_installer_say("service %s was stopped and runs now: %zu pipes answer", installer->service.name, pipes);
  return true;
}

bool csi_upgrade_service(struct csi_installer *installer) {
  struct csi_status *status = &installer->status;
  struct csi_install_config installed, wanted;
  struct csi_installer_difference difference;
  bool exists;
  char *own = csi_program_file_own(installer->arena, status);
  if (own == NULL || !csi_installer_find(installer, &exists, &installed)) return false;
  if (!exists)
    return csi_fail(status, CSI_NOT_FOUND, "there is no service %s to upgrade: use the verb install",
                    installer->service.name);
  if (!want_changed(installer, &installed, &wanted) || !csi_installer_check(installer, &wanted) ||
      !csi_installer_compare(installer, &installed, &wanted, own, &difference))
    return false;
  if (!difference.file && !difference.config) return start_only(installer, &installed, &difference);
  if (!csi_upgrade_to(installer, &installed, &wanted, own, &difference)) return false;
  csi_installer_say(
      "service %s is upgraded: %s%s", installer->service.name, wanted.executable,
      difference.file ? " (what was there before has " CSI_PROGRAM_OLD_SUFFIX " behind its name)" : "");
  return true;
}
