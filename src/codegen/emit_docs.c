/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "codegen/emit.h"

/* Text in a table cell: one line, no column separator. */
static void put_cell(struct gen_out *output, const char *text) {
  for (; *text != '\0'; text++) {
    if (*text == '|')
      gen_put(output, "\\|");
    else
      gen_put(output, "%c", *text == '\n' ? ' ' : *text);
  }
}

static void put_fields(struct gen_out *output, const struct gen_group *group,
                       const struct gen_message *message) {
  if (message->fields.count == 0) {
    gen_put(output, "No fields.\n\n");
    return;
  }
  gen_put(output, "| Field | Type | What it is |\n|---|---|---|\n");
  for (GEN_EACH(struct gen_field, field, &message->fields)) {
    gen_put(output, "| `%s` | `%s` | ", field->snake, gen_type_text(group->arena, field));
    put_cell(output, gen_field_doc(group, field));
    gen_put(output, " |\n");
  }
  gen_put(output, "\n");
}

static void put_message(struct gen_out *output, const struct gen_group *group,
                        const struct gen_message *message) {
  gen_put(output, "`struct %s`\n\n", gen_struct_name(group, message));
  put_fields(output, group, message);
}

static const char *lane_text(const struct gen_rpc *rpc) {
  static const char *const texts[] = {[GEN_LANE_INLINE] = "answered at once",
                                      [GEN_LANE_SHORT] = "may block for a moment",
                                      [GEN_LANE_LONG] = "may take minutes"};
  return texts[rpc->lane];
}

static void put_rpc(struct gen_out *output, const struct gen_group *group, const struct gen_rpc *rpc) {
  gen_put(output, "## %s\n\n%s\n\n", rpc->name, rpc->doc);
  gen_put(output, "* C: `csi_%s_%s()`\n* Versions: %s\n* Duration: %s\n* Changes the node: %s\n\n",
          group->name, rpc->snake, gen_rpc_versions(group, rpc), lane_text(rpc),
          rpc->mutating ? "yes" : "no");
  gen_put(output, "**Request.** ");
  put_message(output, group, rpc->request);
  gen_put(output, "**Response.** ");
  put_message(output, group, rpc->response);
}

static bool is_parameter(const struct gen_group *group, const struct gen_message *message) {
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    if (rpc->request == message || rpc->response == message) return true;
  return false;
}

static void put_types(struct gen_out *output, const struct gen_group *group) {
  for (GEN_EACH(struct gen_message, message, &group->neutral->messages)) {
    if (is_parameter(group, message)) continue;
    gen_put(output, "## %s\n\n%s\n\n", message->name, gen_message_doc(group, message));
    put_message(output, group, message);
  }
  for (GEN_EACH(struct gen_enum, enumeration, &group->neutral->enums)) {
    gen_put(output, "## %s\n\n%s\n\n`enum %s`.\n\n| Number | Name | What it is |\n|---|---|---|\n",
            enumeration->name, enumeration->doc, gen_enum_name(group, enumeration));
    for (GEN_EACH(struct gen_enum_value, value, &enumeration->values)) {
      gen_put(output, "| %d | `%s` | ", value->number, value->name);
      put_cell(output, value->doc);
      gen_put(output, " |\n");
    }
    gen_put(output, "\n");
  }
}

/* What an RPC is called in every version. */
static void put_versions(struct gen_out *output, const struct gen_group *group) {
  gen_put(output, "## Versions\n\n| |");
  for (GEN_EACH(struct gen_file, file, &group->versions))
    gen_put(output, " %s |", file->version);
  gen_put(output, "\n|---|");
  for (size_t i = 0; i < group->versions.count; i++)
    gen_put(output, "---|");
  gen_put(output, "\n");
  for (GEN_EACH(struct gen_rpc, neutral, &group->neutral->rpcs)) {
    gen_put(output, "| %s |", neutral->name);
    for (GEN_EACH(struct gen_file, file, &group->versions)) {
      const struct gen_rpc *rpc = gen_rpc_in(file, neutral);
      gen_put(output, " %s |", rpc == NULL ? "–" : strcmp(rpc->name, neutral->name) == 0 ? "yes" : rpc->name);
    }
    gen_put(output, "\n");
  }
  gen_put(output, "\nPipes: `\\\\.\\pipe\\csi-proxy-%s-<version>`. gRPC services: `<version>.%s`.\n\n",
          group->name, group->neutral->service);
}

bool gen_emit_docs(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  gen_put(&output,
          "<!-- SPDX-License-Identifier: Apache-2.0 -->\n<!-- Made by csi-proxy-api-gen from "
          "%s%s/group.proto and its "
          "versions. Do not edit. -->\n# %s\n\n%s\n\n",
          group->label, group->name, group->neutral->service, group->neutral->service_doc);
  put_versions(&output, group);
  for (GEN_EACH(struct gen_rpc, rpc, &group->neutral->rpcs))
    put_rpc(&output, group, rpc);
  put_types(&output, group);
  return gen_save(&output, directory, gen_printf(group->arena, "docs/%s.md", group->name));
}
