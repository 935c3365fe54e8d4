/* SPDX-License-Identifier: Apache-2.0
 *
 * What the verbs install, uninstall and upgrade are told, and what they make of it: which flags a service
 * gets, and in what it differs from one that is there. Portable and pure; everything handed out lives in the
 * arena, or is borrowed from argv.
 */
#ifndef CSI_SERVICE_INSTALL_PLAN_H
#define CSI_SERVICE_INSTALL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "service/options.h"

enum csi_verb {
  CSI_VERB_NONE,
  CSI_VERB_INSTALL,
  CSI_VERB_UNINSTALL,
  CSI_VERB_UPGRADE,
};

/* Flags of the service in canonical spelling: "-name=value"; of a switch "-name" or "-name=false". */
struct csi_service_flags {
  char **items;
  size_t count;
};

struct csi_install_options {
  enum csi_verb verb;
  const char *name;         /* of the service */
  const char *display_name; /* "" = the usual one */
  const char *exe;          /* the program to register; "" = this one, or `to` */
  const char *to;      /* where to copy this program to; "" = install: it stays where it is; upgrade: over the
                          program that is installed. uninstall: the program to delete when no service names one */
  bool start;          /* also a service that was stopped before; one that ran is started in any case */
  bool keep;           /* stay, and put back what somebody changes */
  bool upgrade;        /* install: do as upgrade when the service is there */
  bool delete_program; /* uninstall: with the service, its program and what an upgrade left beside it */
  bool keep_flags;     /* upgrade: the given flags come on top of those that are installed */
  bool force;          /* also when the service is another program's, or others may write where `to` is */
  int64_t timeout_ns;
  struct csi_service_flags flags; /* as given */
};

/* A service, as it is or as it shall be. */
struct csi_install_config {
  const char *executable; /* full path */
  struct csi_service_flags flags;
  const char *display_name;
  const char *account;
  bool own_process;
  bool auto_start; /* wanted: false = the start type stays as it is */
  bool disabled;   /* as it is */
  bool ambiguous;  /* see struct csi_command_line */
  const char
      *ignored; /* the first argument behind the flags, where the original stops reading; NULL = none */
};

/* The verb that argv[1] is; CSI_VERB_NONE when the program is to serve. */
enum csi_verb csi_install_verb(int argc, char *const *argv);

/* Reads the arguments behind the verb: its own flags and those of the service, in any order.
 *
 * CSI_OPTIONS_INVALID with INVALID_ARGUMENT in status. That values of service flags are valid is not checked.
 */
enum csi_options_result csi_install_parse(struct csi_arena *arena, int argc, char *const *argv,
                                          struct csi_install_options *out,
                                          struct csi_status *status) CSI_MUST_CHECK;

/* Writes which verbs there are, one line each. */
void csi_install_print_verbs(FILE *stream);

/* Writes how the verb is used. verb: not CSI_VERB_NONE. */
void csi_install_print_usage(FILE *stream, enum csi_verb verb);

/* Puts flags into canonical spelling; the last of a flag that counts once wins.
 *
 * arguments: argument_count of them, without the program. -windows-service is left out: every service has it.
 * ignored_out: the first argument that is no flag, behind which nothing is read; NULL = none.
 * Fails with RESOURCE_EXHAUSTED only; an unknown flag is kept for csi_options_parse() to refuse. */
bool csi_service_flags_read(struct csi_arena *arena, char *const *arguments, size_t argument_count,
                            struct csi_service_flags *out, const char **ignored_out,
                            struct csi_status *status) CSI_MUST_CHECK;

/* The flags of base with those of changes on top: a value is replaced, a repeatable one added.
 * Fails with RESOURCE_EXHAUSTED only. */
bool csi_service_flags_merge(struct csi_arena *arena, const struct csi_service_flags *base,
                             const struct csi_service_flags *changes, struct csi_service_flags *out,
                             struct csi_status *status) CSI_MUST_CHECK;

/* Adds a log file when the flags say nothing of where the log goes: a service has no standard error. */
bool csi_service_flags_add_log(struct csi_arena *arena, struct csi_service_flags *flags,
                               struct csi_status *status) CSI_MUST_CHECK;

/* The value of the flag, or NULL when it is not among them, or is a switch. */
const char *csi_service_flag_value(const struct csi_service_flags *flags, const char *name);

/* All arguments of the service's process: executable, -windows-service, flags; NULL-terminated. count_out may
 * be NULL. NULL when memory is short. */
char **csi_service_arguments(struct csi_arena *arena, const struct csi_install_config *config,
                             size_t *count_out, struct csi_status *status) CSI_MUST_CHECK;

/* Reads the command line of an installed service into executable, flags, ambiguous and ignored of config.
 * Fails with INVALID_ARGUMENT, RESOURCE_EXHAUSTED. */
bool csi_install_config_read_command(struct csi_arena *arena, const char *command_line,
                                     struct csi_install_config *config,
                                     struct csi_status *status) CSI_MUST_CHECK;

/* Hands every difference to `tell`, one line each, for people. Returns how many there are. */
size_t csi_install_config_compare(const struct csi_install_config *installed,
                                  const struct csi_install_config *wanted,
                                  void (*tell)(void *context, const char *line), void *context);

/* True when a path's file name is one that this program, or the original, has: it begins with "csi-proxy". */
bool csi_install_is_csi_proxy(const char *executable);

#endif
