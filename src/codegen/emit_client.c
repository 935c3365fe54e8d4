/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/emit.h"

/* --- conversions behind the untyped interface of client/runtime.h */

static const char *stem(const struct gen_group *group, const struct gen_file *file,
                        const struct gen_rpc *rpc) {
  return gen_printf(group->arena, "%s_%s", file->version, rpc->snake);
}

static void put_request(struct gen_out *output, const struct gen_group *group, const struct gen_file *file,
                        const struct gen_rpc *rpc) {
  const struct gen_message *request = rpc->request;
  gen_put(
      output,
      "static bool %s_request(struct csi_arena *arena, struct csi_status *status, const void *request,\n"
      "    ProtobufCMessage **message_out) {\n"
      "  %s *message = csi_convert_array(arena, status, 1, sizeof *message);\n"
      "  if (message == NULL)\n    return false;\n  %s__init(message);\n  *message_out = &message->base;\n"
      "  return %s_to_wire(arena, status, request, message);\n}\n\n",
      stem(group, file, rpc), request->c_struct, request->c_prefix, gen_versioned_name(group, request));
}

static void put_response(struct gen_out *output, const struct gen_group *group, const struct gen_file *file,
                         const struct gen_rpc *rpc) {
  const struct gen_message *response = rpc->response;
  gen_put(output,
          "static bool %s_response(struct csi_arena *arena, struct csi_status *status,\n"
          "    const ProtobufCMessage *message, void *response) {\n"
          "  return %s_from_wire(arena, status, (const %s *)message, response);\n}\n\n",
          stem(group, file, rpc), gen_versioned_name(group, response), response->c_struct);
}

static const char *rpc_index(const struct gen_group *group, const struct gen_rpc *neutral) {
  return gen_printf(group->arena, "RPC_%s", gen_upper(group->arena, neutral->snake));
}

static void put_method(struct gen_out *output, const struct gen_group *group, const struct gen_file *file,
                       const struct gen_rpc *rpc) {
  gen_put(output,
          "    [%s] = {.path = \"/%s.%s/%s\",\n        .response = &%s__descriptor,\n"
          "        .response_wire = &%s_wire,\n        .request_to_wire = %s_request,\n"
          "        .response_from_wire = %s_response},\n",
          rpc_index(group, rpc->neutral), file->version, file->service, rpc->name, rpc->response->c_prefix,
          gen_versioned_name(group, rpc->response), stem(group, file, rpc), stem(group, file, rpc));
}

static void put_version(struct gen_out *output, const struct gen_group *group, const struct gen_file *file) {
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs)) {
    put_request(output, group, file, rpc);
    put_response(output, group, file, rpc);
  }
  gen_put(output, "static const struct csi_client_method methods_%s[RPC_COUNT] = {\n", file->version);
  for (GEN_EACH(struct gen_rpc, rpc, &file->rpcs))
    put_method(output, group, file, rpc);
  gen_put(output, "};\n\n");
}

/* --- tables */

static void put_rpcs(struct gen_out *output, const struct gen_group *group) {
  gen_put(output, "enum {\n");
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    gen_put(output, "  %s,\n", rpc_index(group, rpc));
  gen_put(output, "  RPC_COUNT\n};\n\nstatic const char *const rpc_names[RPC_COUNT] = {\n");
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    gen_put(output, "    [%s] = \"%s\",\n", rpc_index(group, rpc), rpc->name);
  gen_put(output, "};\n\nstatic const size_t response_bytes[RPC_COUNT] = {\n");
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    gen_put(output, "    [%s] = sizeof(struct %s),\n", rpc_index(group, rpc),
            gen_struct_name(group, rpc->response));
  gen_put(output, "};\n\n");
}

static void put_group(struct gen_out *output, const struct gen_group *group) {
  struct gen_list versions = gen_versions_by_preference(group);
  gen_put(output, "static const struct csi_client_version versions[] = {\n");
  for (GEN_EACH(struct gen_file, file, &versions))
    gen_put(output, "    {.version = \"%s\", .methods = methods_%s},\n", file->version, file->version);
  gen_put(output,
          "};\n\nconst struct csi_client_group csi_%s_client_group = {\n    .group = \"%s\",\n    .rpc_names "
          "= rpc_names,\n"
          "    .response_bytes = response_bytes,\n    .rpc_count = RPC_COUNT,\n    .versions = versions,\n"
          "    .version_count = %zu,\n};\n\n",
          group->name, group->name, versions.count);
}

/* --- stubs */

static void put_stub(struct gen_out *output, const struct gen_group *group, const struct gen_rpc *rpc) {
  const char *request = gen_struct_name(group, rpc->request),
             *response = gen_struct_name(group, rpc->response);
  gen_put(output,
          "enum csi_code csi_%s_%s(\n    struct csi_client *client, const struct %s *request,\n"
          "    const struct csi_call_options *options, struct %s **response_out,\n    struct csi_error "
          "*error_out) {\n",
          group->name, rpc->snake, request, response);
  gen_put(output,
          "  static const struct %s defaults;\n  void *response = NULL;\n"
          "  enum csi_code code = csi_client_call(client, &csi_%s_client_group, %s,\n"
          "      request != NULL ? request : &defaults, options, &response, error_out);\n"
          "  *response_out = response;\n  return code;\n}\n\n",
          request, group->name, rpc_index(group, rpc));
}

static bool emit_header(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  const char *guard =
      gen_printf(group->arena, "CSI_GEN_%s_CLIENT_GROUP_H", gen_upper(group->arena, group->name));
  gen_put_banner(&output, group,
                 gen_printf(group->arena, "What the client runtime knows of the %s group.", group->name));
  gen_put(&output,
          "#ifndef %s\n#define %s\n\n#include \"client/runtime.h\"\n\nextern const struct csi_client_group "
          "csi_%s_client_group;\n\n#endif\n",
          guard, guard, group->name);
  return gen_save(&output, directory, gen_printf(group->arena, "%s/client_group.h", group->name));
}

bool gen_emit_client(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  gen_put_banner(&output, group, gen_printf(group->arena, "Client stubs of the %s group.", group->name));
  gen_put(&output,
          "#include \"%s/client_group.h\"\n\n#include \"codegen/runtime/convert.h\"\n#include "
          "\"csi-proxy/%s.h\"\n",
          group->name, group->name);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    gen_put(&output, "#include \"%s/convert_%s.h\"\n", group->name, file->version);
  gen_put(&output, "#include \"%s/wire.h\"\n\n", group->name);
  put_rpcs(&output, group);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    put_version(&output, group, file);
  put_group(&output, group);
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    put_stub(&output, group, rpc);
  bool saved = gen_save(&output, directory, gen_printf(group->arena, "%s/client.c", group->name));
  return emit_header(group, directory) && saved;
}
