/* SPDX-License-Identifier: Apache-2.0
 *
 * csi-proxy-api-gen: makes the C of one API group from its protos.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "codegen/check.h"
#include "codegen/emit.h"
#include "codegen/load.h"
#include "codegen/lock.h"

struct arguments {
  const char *group;
  const char *label;
  const char *descriptor_set;
  const char *out;
  const char *lock;
  bool write_lock;
  bool versions_only;
};

static const char usage[] =
    "usage: csi-proxy-api-gen --group NAME --descriptor-set FILE [options]\n"
    "\n"
    "Makes the C of one API group: public header, handler prototypes, conversions, dispatch\n"
    "tables, client stubs and a reference page.\n"
    "\n"
    "  --group NAME           group, for example filesystem\n"
    "  --descriptor-set FILE  from protoc --include_imports --include_source_info, of\n"
    "                         NAME/group.proto and every NAME/<version>/api.proto\n"
    "  --out DIR              where to write; nothing is written without it\n"
    "  --label TEXT           put before the names of protos in messages, for example proto/\n"
    "  --lock FILE            fail when a released version differs from this file\n"
    "  --write-lock           add versions to the lock that are not in it\n"
    "  --versions-only        do without group.proto: check the versions and the lock, make nothing\n"
    "  -h, --help             this text\n";

enum {
  OPTION_GROUP = 256,
  OPTION_SET,
  OPTION_OUT,
  OPTION_LABEL,
  OPTION_LOCK,
  OPTION_WRITE_LOCK,
  OPTION_VERSIONS_ONLY
};

/* Returns -1 to go on, or the exit code. */
static int parse_arguments(int argc, char **argv, struct arguments *arguments) {
  static const struct option options[] = {{"group", required_argument, NULL, OPTION_GROUP},
                                          {"descriptor-set", required_argument, NULL, OPTION_SET},
                                          {"out", required_argument, NULL, OPTION_OUT},
                                          {"label", required_argument, NULL, OPTION_LABEL},
                                          {"lock", required_argument, NULL, OPTION_LOCK},
                                          {"write-lock", no_argument, NULL, OPTION_WRITE_LOCK},
                                          {"versions-only", no_argument, NULL, OPTION_VERSIONS_ONLY},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  int option;
  while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
    switch (option) {
    case OPTION_GROUP:
      arguments->group = optarg;
      break;
    case OPTION_SET:
      arguments->descriptor_set = optarg;
      break;
    case OPTION_OUT:
      arguments->out = optarg;
      break;
    case OPTION_LABEL:
      arguments->label = optarg;
      break;
    case OPTION_LOCK:
      arguments->lock = optarg;
      break;
    case OPTION_WRITE_LOCK:
      arguments->write_lock = true;
      break;
    case OPTION_VERSIONS_ONLY:
      arguments->versions_only = true;
      break;
    case 'h':
      fputs(usage, stdout);
      return 0;
    default:
      return 2;
    }
  }
  bool complete = optind == argc && arguments->group != NULL && arguments->descriptor_set != NULL &&
                  (arguments->lock != NULL || !arguments->write_lock) &&
                  (arguments->out == NULL || !arguments->versions_only);
  if (!complete) fputs(usage, stderr);
  return complete ? -1 : 2;
}

static bool emit(const struct gen_group *group, const char *directory) {
  return gen_emit_types(group, directory) && gen_emit_handlers(group, directory) &&
         gen_emit_convert(group, directory) && gen_emit_wire(group, directory) &&
         gen_emit_descriptors(group, directory) && gen_emit_dispatch(group, directory) &&
         gen_emit_client(group, directory) && gen_emit_docs(group, directory);
}

static bool check_lock(const struct gen_group *group, const struct arguments *arguments) {
  if (arguments->lock == NULL) return true;
  return arguments->write_lock ? gen_lock_write(group, arguments->lock)
                               : gen_lock_check(group, arguments->lock);
}

static bool run(struct gen_group *group, const struct arguments *arguments) {
  if (!gen_load(group, arguments->descriptor_set)) return false;
  if (arguments->versions_only) return gen_check_versions(group) && check_lock(group, arguments);
  return gen_check_files(group) && check_lock(group, arguments) && gen_resolve(group) &&
         gen_check_mapping(group) && (arguments->out == NULL || emit(group, arguments->out));
}

int main(int argc, char **argv) {
  struct arguments arguments = {.label = ""};
  int exit_code = parse_arguments(argc, argv, &arguments);
  if (exit_code >= 0) return exit_code;
  struct gen_group group = {.arena = gen_arena_new(), .name = arguments.group, .label = arguments.label};
  bool done = run(&group, &arguments);
  gen_arena_free(group.arena);
  return done ? 0 : 1;
}
