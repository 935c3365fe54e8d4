/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/emit.h"

/* --- handlers.h */

static void put_handler(struct gen_out *output, const struct gen_group *group, const struct gen_rpc *rpc) {
  gen_put_comment(output, 0, rpc->doc);
  gen_put(output,
          "bool %s(struct csi_ctx *ctx, struct csi_%s *group,\n    const struct %s *request,\n    struct %s "
          "*response);\n\n",
          gen_handler_name(group, rpc), group->name, gen_struct_name(group, rpc->request),
          gen_struct_name(group, rpc->response));
}

bool gen_emit_handlers(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  const char *guard = gen_printf(group->arena, "CSI_GEN_%s_HANDLERS_H", gen_upper(group->arena, group->name));
  gen_put_banner(
      &output, group,
      gen_printf(group->arena,
                 "The handlers of the %s group, to be written by hand: one for each operation, "
                 "whatever the version. A handler returns false after recording why in ctx->status. "
                 "The request is borrowed; the response is zeroed, and what it points to must be "
                 "constant or in ctx->arena. Requests were checked against the limits of group.proto.",
                 group->name));
  gen_put(&output,
          "#ifndef %s\n#define %s\n\n#include <stdbool.h>\n\n#include \"base/ctx.h\"\n#include "
          "\"csi-proxy/%s.h\"\n\n",
          guard, guard, group->name);
  gen_put(
      &output,
      "/* What the handlers work on; defined by hand, handed through by the server. */\nstruct csi_%s;\n\n",
      group->name);
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    put_handler(&output, group, rpc);
  gen_put(&output, "#endif\n");
  return gen_save(&output, directory, gen_printf(group->arena, "%s/handlers.h", group->name));
}

/* --- dispatch.c */

static const char *serve_name(const struct gen_group *group, const struct gen_file *file,
                              const struct gen_rpc *rpc) {
  return gen_printf(group->arena, "serve_%s_%s", file->version, rpc->snake);
}

static void put_call(struct gen_out *output, const struct gen_group *group, const struct gen_rpc *rpc) {
  gen_put(output, "  if (!%s(ctx, group, &request, &response))\n", gen_handler_name(group, rpc->neutral));
  if (*rpc->error_prefix == '\0') {
    gen_put(output, "    return false;\n");
    return;
  }
  gen_put(output, "    return csi_explain(&ctx->status, \"%%s\", \"");
  gen_put_quoted(output, rpc->error_prefix);
  gen_put(output, "\");\n");
}

static void put_serve(struct gen_out *output, const struct gen_group *group, const struct gen_file *file,
                      const struct gen_rpc *rpc) {
  const char *request = gen_versioned_name(group, rpc->request);
  const char *response = gen_versioned_name(group, rpc->response);
  gen_put(
      output,
      "static bool %s(struct csi_ctx *ctx, void *group,\n    const ProtobufCMessage *request_message, const "
      "ProtobufCMessage **response_out) {\n",
      serve_name(group, file, rpc));
  gen_put(output, "  struct %s request = {0};\n  struct %s response = {0};\n",
          gen_struct_name(group, rpc->neutral->request), gen_struct_name(group, rpc->neutral->response));
  gen_put(output,
          "  if (!%s_from_wire(ctx->arena, &ctx->status,\n          (const %s *)request_message, &request))\n"
          "    return false;\n",
          request, rpc->request->c_struct);
  put_call(output, group, rpc);
  gen_put(
      output,
      "  %s *message = csi_convert_array(ctx->arena, &ctx->status, 1, sizeof *message);\n"
      "  if (message == NULL)\n    return false;\n  %s__init(message);\n  *response_out = &message->base;\n"
      "  return %s_to_wire(ctx->arena, &ctx->status, &response, message);\n}\n\n",
      rpc->response->c_struct, rpc->response->c_prefix, response);
}

static void put_method(struct gen_out *output, const struct gen_group *group, const struct gen_file *file,
                       const struct gen_rpc *rpc) {
  static const char *const lanes[] = {[GEN_LANE_INLINE] = "CSI_LANE_INLINE",
                                      [GEN_LANE_SHORT] = "CSI_LANE_SHORT",
                                      [GEN_LANE_LONG] = "CSI_LANE_LONG"};
  gen_put(output, "    {.name = \"%s\",\n     .lane = %s,\n", rpc->name, lanes[rpc->neutral->lane]);
  gen_put(output, "     .mutating = %s,\n     .secret = %s,\n", rpc->neutral->mutating ? "true" : "false",
          gen_has_secret(rpc->neutral->request) ? "true" : "false");
  gen_put(output, "     .request = &%s__descriptor,\n     .request_wire = &%s_wire,\n     .serve = %s},\n",
          rpc->request->c_prefix, gen_versioned_name(group, rpc->request), serve_name(group, file, rpc));
}

static void put_service(struct gen_out *output, const struct gen_group *group, const struct gen_file *file) {
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    put_serve(output, group, file, rpc);
  gen_put(output, "static const struct csi_method methods_%s[] = {\n", file->version);
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    put_method(output, group, file, rpc);
  gen_put(
      output,
      "};\n\nstatic const struct csi_service service_%s = {\n    .group = \"%s\",\n    .version = \"%s\",\n"
      "    .name = \"%s.%s\",\n    .methods = methods_%s,\n    .method_count = %zu,\n};\n\n",
      file->version, group->name, file->version, file->version, file->service, file->version,
      file->rpcs.count);
}

/* --- list */

static void put_list(struct gen_out *output, const struct gen_group *group) {
  gen_put(output, "static const struct csi_service *const services[] = {\n");
  for (GEN_EACH(struct gen_file, file, &group->versions))
    gen_put(output, "    &service_%s,\n", file->version);
  gen_put(output,
          "};\n\nconst struct csi_service_list csi_%s_services = {\n    .services = services,\n"
          "    .service_count = %zu,\n    .descriptor_set = csi_%s_descriptor_set,\n"
          "    .descriptor_set_bytes = sizeof csi_%s_descriptor_set,\n"
          "    .secret_fields = csi_%s_secret_fields,\n};\n",
          group->name, group->versions.count, group->name, group->name, group->name);
}

static bool emit_services_header(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  const char *guard = gen_printf(group->arena, "CSI_GEN_%s_SERVICES_H", gen_upper(group->arena, group->name));
  gen_put_banner(&output, group,
                 gen_printf(group->arena, "What a server of the %s group runs from.", group->name));
  gen_put(&output,
          "#ifndef %s\n#define %s\n\n#include \"rpc/method.h\"\n\n/* Every version, oldest first. The "
          "`group` of a "
          "binding is a struct csi_%s. */\nextern const struct csi_service_list csi_%s_services;\n\n#endif\n",
          guard, guard, group->name, group->name);
  return gen_save(&output, directory, gen_printf(group->arena, "%s/services.h", group->name));
}

bool gen_emit_dispatch(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  gen_put_banner(&output, group, gen_printf(group->arena, "Dispatch tables of the %s group.", group->name));
  gen_put(&output, "#include \"%s/services.h\"\n\n#include \"codegen/runtime/convert.h\"\n", group->name);
  gen_put(&output, "#include \"%s/descriptors.h\"\n", group->name);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    gen_put(&output, "#include \"%s/convert_%s.h\"\n", group->name, file->version);
  gen_put(&output, "#include \"%s/handlers.h\"\n#include \"%s/wire.h\"\n\n", group->name, group->name);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    put_service(&output, group, file);
  put_list(&output, group);
  bool saved = gen_save(&output, directory, gen_printf(group->arena, "%s/dispatch.c", group->name));
  return emit_services_header(group, directory) && saved;
}
