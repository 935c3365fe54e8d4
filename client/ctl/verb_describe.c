/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "client/ctl/descriptors.h"
#include "client/ctl/output.h"
#include "client/ctl/proto_text.h"
#include "client/ctl/suggest.h"
#include "client/ctl/verbs.h"

static bool fail_unknown_name(const upb_FileDef *file, const char *name, struct csi_ctl_error *error) {
  const upb_ServiceDef *service = upb_FileDef_Service(file, 0);
  struct csi_suggestion suggestion = {.typed = name};
  for (int i = 0; i < upb_ServiceDef_MethodCount(service); i++)
    csi_suggest_offer(&suggestion, upb_MethodDef_Name(upb_ServiceDef_Method(service, i)));
  for (int i = 0; i < upb_FileDef_TopLevelMessageCount(file); i++)
    csi_suggest_offer(&suggestion, upb_MessageDef_Name(upb_FileDef_TopLevelMessage(file, i)));
  for (int i = 0; i < upb_FileDef_TopLevelEnumCount(file); i++)
    csi_suggest_offer(&suggestion, upb_EnumDef_Name(upb_FileDef_TopLevelEnum(file, i)));
  csi_ctl_wrong(error, "%s has no RPC, message or enum %s", upb_ServiceDef_FullName(service), name);
  if (suggestion.best != NULL) csi_ctl_hint(error, "did you mean %s?", suggestion.best);
  return false;
}

/* An RPC with its messages, or a message or enum, each with what it refers to. */
static bool describe_name(struct csi_text_buffer *out, const struct csi_ctl_group *group,
                          const upb_ServiceDef *service, const char *name, struct csi_ctl_error *error) {
  const upb_FileDef *file = upb_ServiceDef_File(service);
  struct csi_proto_text text = {.out = out, .group = group, .file = file};
  const upb_MethodDef *method = upb_ServiceDef_FindMethodByName(service, name);
  if (method != NULL) {
    csi_proto_method(&text, method);
    return true;
  }
  for (int i = 0; i < upb_FileDef_TopLevelMessageCount(file); i++) {
    const upb_MessageDef *message = upb_FileDef_TopLevelMessage(file, i);
    if (strcmp(upb_MessageDef_Name(message), name) != 0) continue;
    csi_proto_message(&text, message);
    return true;
  }
  for (int i = 0; i < upb_FileDef_TopLevelEnumCount(file); i++) {
    const upb_EnumDef *enumeration = upb_FileDef_TopLevelEnum(file, i);
    if (strcmp(upb_EnumDef_Name(enumeration), name) != 0) continue;
    csi_proto_enum(&text, enumeration);
    return true;
  }
  return fail_unknown_name(file, name, error);
}

static bool describe(struct csi_ctl *ctl, int argc, char **argv, struct csi_text_buffer *out,
                     struct csi_ctl_error *error) {
  const struct csi_ctl_group *group;
  const upb_ServiceDef *service;
  if (!csi_ctl_find_group(ctl, argv[1], &group, error)) return false;
  if (argc == 2) {
    for (size_t i = 0; i < group->service_count; i++) {
      struct csi_proto_text text = {
          .out = out, .group = group, .file = upb_ServiceDef_File(group->services[i])};
      if (i > 0) csi_text_buffer_put(out, "\n");
      csi_proto_service(&text, group->services[i]);
    }
    return true;
  }
  if (!csi_ctl_find_version(group, argv[2], &service, error)) return false;
  if (argc == 4) return describe_name(out, group, service, argv[3], error);
  struct csi_proto_text text = {.out = out, .group = group, .file = upb_ServiceDef_File(service)};
  csi_proto_file(&text);
  return true;
}

static int run_describe(struct csi_ctl *ctl, int argc, char **argv) {
  struct csi_text_buffer out = {.coloured = csi_output_coloured(ctl)};
  struct csi_ctl_error error;
  if (describe(ctl, argc, argv, &out, &error)) return csi_output_write(ctl, &out);
  csi_text_buffer_free(&out);
  return csi_ctl_report(ctl, &error);
}

const struct csi_ctl_verb csi_ctl_describe_verb = {
    .name = "describe",
    .arguments = "GROUP [VERSION [RPC|MESSAGE|ENUM]]",
    .summary = "What calls and messages are made of, with comments",
    .help =
        "Prints the API as this program knows it, in the language of .proto files: all versions of GROUP "
        "with "
        "their RPCs; all of VERSION; or one RPC, message or enum with everything it refers to. Fields marked "
        "\"secret\" are shown nowhere, in no log and no error. No call is made.\n"
        "\n"
        "  csi-proxyctl describe disk\n"
        "  csi-proxyctl describe disk v1\n"
        "  csi-proxyctl describe volume v2alpha1 FormatVolume",
    .least_arguments = 1,
    .most_arguments = 3,
    .run = run_describe,
};
