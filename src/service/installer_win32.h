/* SPDX-License-Identifier: Apache-2.0
 *
 * What install, uninstall, upgrade and keep share: one piece of work on one service. Messages for people go
 * to standard output, one line each; the reason of a failure is in `status`.
 */
#ifndef CSI_SERVICE_INSTALLER_WIN32_H
#define CSI_SERVICE_INSTALLER_WIN32_H

#include <stdint.h>

#include "service/daemon.h"
#include "service/install_plan.h"
#include "service/scm_win32.h"

struct csi_installer {
  struct csi_arena *arena; /* of this piece of work */
  const struct csi_install_options *options;
  struct csi_scm_service service; /* connected */
  struct csi_status status;
};

/* Prints one line, at once. */
void csi_installer_say(const char *format, ...) CSI_PRINTF(1, 2);

/* Prints a line of a list; for csi_install_config_compare(). */
void csi_installer_say_item(void *unused, const char *line);

/* Fills the fields of *wanted that every service of ours has: display name, account, type and start. */
void csi_installer_fill_wanted(const struct csi_installer *installer, struct csi_install_config *wanted);

/* Puts into *wanted what `install` asks for: program and flags as given, and a log file when they name none.
 */
bool csi_installer_want_given(struct csi_installer *installer,
                              struct csi_install_config *wanted) CSI_MUST_CHECK;

/* Checks the flags as -check-config does, and prints what they come to. */
bool csi_installer_check(struct csi_installer *installer,
                         const struct csi_install_config *wanted) CSI_MUST_CHECK;

/* Opens the service, and reads what it is, if there is one; puts its program back when an interrupted upgrade
 * has left it under another name. Fails when it is none that may be touched: another program's (unless
 * -force), or marked for deletion. Changes nothing else. */
bool csi_installer_find(struct csi_installer *installer, bool *exists_out,
                        struct csi_install_config *present) CSI_MUST_CHECK;

/* In what a service differs from what is wanted. */
struct csi_installer_difference {
  bool file, config; /* the program's bytes; all else, of which each has been told */
  bool stopped;
};

/* source: the program that wanted->executable shall be a copy of; NULL = its bytes are not looked at. */
bool csi_installer_compare(struct csi_installer *installer, const struct csi_install_config *present,
                           const struct csi_install_config *wanted, const char *source,
                           struct csi_installer_difference *out) CSI_MUST_CHECK;

/* Makes the directory of config's program, and checks that nobody else may write on the way to it. A fault is
 * a failure when -to names the place and -force does not stand beside it; else it is told. */
bool csi_installer_make_program_directory(struct csi_installer *installer,
                                          const struct csi_install_config *config) CSI_MUST_CHECK;

/* Makes the directories that the flags name for logs. That others may write on the way to them is told. */
bool csi_installer_make_log_directories(struct csi_installer *installer,
                                        const struct csi_install_config *wanted) CSI_MUST_CHECK;

/* -stop-grace-period of a service, in ms; the default when its flags cannot be read. */
uint32_t csi_installer_grace_ms(struct csi_installer *installer, const struct csi_install_config *config);

/* Sets what belongs to a service beside its configuration: description, recovery, pre-shutdown time-out. */
bool csi_installer_set_extras(struct csi_installer *installer,
                              const struct csi_install_config *config) CSI_MUST_CHECK;

/* The exit code that says what a failure is: wrong flags, or a thing that went wrong. */
enum csi_exit csi_installer_exit(const struct csi_status *status);

/* Starts the service and waits until it runs and every pipe of config answers. pipes_out: how many. */
bool csi_installer_start(struct csi_installer *installer, const struct csi_install_config *config,
                         size_t *pipes_out) CSI_MUST_CHECK;

/* Stops the service and waits until its process has ended. One that does not end, as the original's, or that
 * has a pipe of a service that is stopped already, is ended when its image is config's program, this is a
 * csi-proxy by its name, and the service has a process of its own. */
bool csi_installer_stop(struct csi_installer *installer,
                        const struct csi_install_config *config) CSI_MUST_CHECK;

/* The verbs. `install` when exact: the service that is there must be as wanted already. */
bool csi_install_service(struct csi_installer *installer) CSI_MUST_CHECK;
bool csi_uninstall_service(struct csi_installer *installer) CSI_MUST_CHECK;
bool csi_upgrade_service(struct csi_installer *installer) CSI_MUST_CHECK;

/* Brings the service that is there to *wanted: its program (source is copied over wanted->executable when
 * difference->file) and its configuration; goes back when it fails. Ctrl-C waits for the end of it. */
bool csi_upgrade_to(struct csi_installer *installer, const struct csi_install_config *installed,
                    const struct csi_install_config *wanted, const char *source,
                    const struct csi_installer_difference *difference) CSI_MUST_CHECK;

/* Makes one piece of work of the options. Blocks while another one of this machine goes on. */
bool csi_installer_run(const struct csi_install_options *options,
                       bool (*work)(struct csi_installer *installer),
                       struct csi_status *status) CSI_MUST_CHECK;

/* Installs or upgrades now, then looks every 10 s, until Ctrl-C or the end of the container. */
enum csi_exit csi_install_keep(const struct csi_install_options *options);

#endif
