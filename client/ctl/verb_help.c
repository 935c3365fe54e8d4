/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "client/ctl/program.h"
#include "client/ctl/suggest.h"
#include "client/ctl/verbs.h"
#include "service/version.h"

enum {
  COLUMNS = 79,
  VERB_COLUMNS = 38,
};

/* Prints a paragraph, wrapped. */
static void print_wrapped(FILE *out, const char *text, size_t length) {
  size_t column = 0;
  for (size_t at = 0; at < length;) {
    size_t word = strcspn(text + at, " \n");
    if (at + word > length) word = length - at;
    if (column > 0 && column + 1 + word > COLUMNS) {
      fputc('\n', out);
      column = 0;
    }
    fprintf(out, "%s%.*s", column > 0 ? " " : "", (int)word, text + at);
    column += word + (column > 0 ? 1 : 0);
    at += word;
    while (at < length && (text[at] == ' ' || text[at] == '\n'))
      at++;
  }
  fputc('\n', out);
}

/* Lines that begin with two blanks stay as they are. */
static void print_help(FILE *out, const char *help) {
  while (*help != '\0') {
    size_t length = strcspn(help, "\n");
    if (length == 0)
      fputc('\n', out);
    else if (strncmp(help, "  ", 2) == 0)
      fprintf(out, "%.*s\n", (int)length, help);
    else
      print_wrapped(out, help, length);
    help += length;
    if (*help == '\n') help++;
  }
}

static void print_verb_flags(FILE *out, const struct csi_ctl_verb *verb) {
  if (verb->flag_count == 0) return;
  const struct csi_flag_table table = {verb->flags, verb->flag_count};
  fputc('\n', out);
  csi_flags_print_usage(out, verb->name, &table, 1);
}

void csi_ctl_print_verb(FILE *out, const struct csi_ctl_verb *verb) {
  fprintf(out, "csi-proxyctl %s%s%s - %s\n\n", verb->name, verb->arguments[0] != '\0' ? " " : "",
          verb->arguments, verb->summary);
  print_help(out, verb->help);
  print_verb_flags(out, verb);
}

static void print_verb_line(FILE *out, const struct csi_ctl_verb *verb) {
  char left[128];
  snprintf(left, sizeof left, "%s %s", verb->name, verb->arguments);
  if (strlen(left) < VERB_COLUMNS)
    fprintf(out, "  %-*s %s\n", VERB_COLUMNS, left, verb->summary);
  else
    fprintf(out, "  %s\n  %*s %s\n", left, VERB_COLUMNS, "", verb->summary);
}

static const char introduction[] =
    "usage: csi-proxyctl [FLAGS] VERB [ARGUMENTS]\n"
    "\n"
    "Shows what the CSI Proxy service of this node serves and does, and makes any call of\n"
    "its API. Flags may stand anywhere.\n"
    "\n"
    "Verbs:\n";

static const char exit_codes[] =
    "\n"
    "Exit codes:\n"
    "  0  done\n"
    "  1  the service answered with an error, not in time, or with less than all;\n"
    "     or the answer could not be written\n"
    "  2  wrong usage, or JSON that does not fit; nothing was sent\n"
    "  3  the service cannot be reached\n"
    "  4  status: the service answers, and is not ready\n";

void csi_ctl_print_help(FILE *out) {
  fputs(introduction, out);
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++)
      print_verb_line(out, &table->verbs[i]);
  fputc('\n', out);
  csi_ctl_print_flags(out);
  fputs(exit_codes, out);
}

void csi_ctl_fail_unknown_verb(const char *name, struct csi_ctl_error *error) {
  struct csi_suggestion suggestion = {.typed = name};
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++)
      csi_suggest_offer(&suggestion, table->verbs[i].name);
  csi_ctl_wrong(error, "there is no verb %s", name);
  if (suggestion.best != NULL)
    csi_ctl_hint(error, "did you mean %s?", suggestion.best);
  else
    csi_ctl_hint(error, "\"csi-proxyctl help\" shows all verbs");
}

static int run_help(struct csi_ctl *ctl, int argc, char **argv) {
  if (argc < 2) {
    csi_ctl_print_help(stdout);
    return CSI_CTL_DONE;
  }
  const struct csi_ctl_verb *verb = csi_ctl_find_verb(argv[1]);
  if (verb == NULL) {
    struct csi_ctl_error error;
    csi_ctl_fail_unknown_verb(argv[1], &error);
    return csi_ctl_report(ctl, &error);
  }
  csi_ctl_print_verb(stdout, verb);
  return CSI_CTL_DONE;
}

static int run_version(struct csi_ctl *ctl, int argc, char **argv) {
  (void)ctl, (void)argc, (void)argv;
  puts("csi-proxyctl " CSI_VERSION_TEXT);
  return CSI_CTL_DONE;
}

const struct csi_ctl_verb csi_ctl_help_verb = {
    .name = "help",
    .arguments = "[VERB]",
    .summary = "This text, or everything about one verb",
    .help = "Prints what a verb does, its arguments and its flags; without VERB, all verbs and the flags of "
            "all of them.",
    .most_arguments = 1,
    .run = run_help,
};

const struct csi_ctl_verb csi_ctl_version_verb = {
    .name = "version",
    .arguments = "",
    .summary = "Version of this program",
    .help = "Prints the version of csi-proxyctl. \"csi-proxyctl status\" shows that of the service.",
    .run = run_version,
};
