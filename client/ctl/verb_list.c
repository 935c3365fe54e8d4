/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "client/ctl/connection.h"
#include "client/ctl/descriptors.h"
#include "client/ctl/json_text.h"
#include "client/ctl/output.h"
#include "client/ctl/table.h"
#include "client/ctl/verbs.h"
#include "client/ctl/yaml.h"

/* One version of one group. */
struct entry {
  const char *group;
  const char *version;
  const char *pipe;
  int rpc_count;
  bool present;
};

/* Calls visit for every version of every group, newest last. */
static bool each_version(struct csi_ctl *ctl, void (*visit)(void *context, const struct entry *entry),
                         void *context, struct csi_ctl_error *error) {
  for (const char *const *name = csi_ctl_group_names(); *name != NULL; name++) {
    const struct csi_ctl_group *group;
    if (!csi_ctl_find_group(ctl, *name, &group, error)) return false;
    for (size_t i = 0; i < group->service_count; i++) {
      const char *version = csi_ctl_version_of(group->services[i]);
      const char *pipe = csi_ctl_pipe_name(ctl, ctl->arena, *name, version);
      if (pipe == NULL) return csi_ctl_fail_out_of_memory(error);
      visit(context, &(struct entry){.group = *name,
                                     .version = version,
                                     .pipe = pipe,
                                     .rpc_count = upb_ServiceDef_MethodCount(group->services[i]),
                                     .present = csi_pipe_is_present(pipe)});
    }
  }
  return true;
}

static void add_row(void *context, const struct entry *entry) {
  struct csi_table *table = context;
  char count[16];
  snprintf(count, sizeof count, "%d", entry->rpc_count);
  csi_table_text(table, CSI_STYLE_STRONG, entry->group);
  csi_table_text(table, CSI_STYLE_PLAIN, entry->version);
  csi_table_text(table, CSI_STYLE_PLAIN, count);
  csi_table_text(table, entry->present ? CSI_STYLE_GOOD : CSI_STYLE_BAD, entry->present ? "yes" : "no");
  csi_table_text(table, CSI_STYLE_FAINT, entry->pipe);
}

static bool make_table(struct csi_ctl *ctl, struct csi_text_buffer *out, struct csi_ctl_error *error) {
  struct csi_table table = {0};
  csi_table_column(&table, "GROUP", CSI_ALIGN_LEFT);
  csi_table_column(&table, "VERSION", CSI_ALIGN_LEFT);
  csi_table_column(&table, "RPCS", CSI_ALIGN_RIGHT);
  csi_table_column(&table, "THERE", CSI_ALIGN_LEFT);
  csi_table_column(&table, "PIPE", CSI_ALIGN_LEFT);
  bool done = each_version(ctl, add_row, &table, error);
  out->coloured = csi_output_coloured(ctl);
  if (done) csi_table_print(&table, out, csi_output_columns());
  csi_table_free(&table);
  return done;
}

static void add_json(void *context, const struct entry *entry) {
  struct csi_text_buffer *json = context;
  csi_text_buffer_print(json, "%s{\"group\":\"%s\",\"version\":\"%s\",\"rpcs\":%d,\"present\":%s,\"pipe\":",
                        json->length_bytes > 1 ? "," : "", entry->group, entry->version, entry->rpc_count,
                        entry->present ? "true" : "false");
  csi_json_put_string(json, entry->pipe, strlen(entry->pipe));
  csi_text_buffer_put(json, "}");
}

static bool make_text(struct csi_ctl *ctl, struct csi_text_buffer *out, struct csi_ctl_error *error) {
  struct csi_text_buffer json = {0};
  struct csi_status status = {0};
  csi_text_buffer_put(&json, "[");
  bool done = each_version(ctl, add_json, &json, error);
  csi_text_buffer_put(&json, "]");
  if (done && json.out_of_memory)
    done = csi_ctl_fail_out_of_memory(error);
  else if (done && !(ctl->format == CSI_CTL_YAML ? csi_yaml_from_json : csi_json_indent)(
                       json.text, json.length_bytes, out, &status))
    done = csi_ctl_fail(error, CSI_OK, "%s", status.text);
  csi_text_buffer_free(&json);
  return done;
}

static int run_list(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  struct csi_text_buffer out = {0};
  struct csi_ctl_error error;
  if ((ctl->format == CSI_CTL_TABLE ? make_table : make_text)(ctl, &out, &error))
    return csi_output_write(ctl, &out);
  csi_text_buffer_free(&out);
  return csi_ctl_report(ctl, &error);
}

const struct csi_ctl_verb csi_ctl_list_verb = {
    .name = "list",
    .arguments = "",
    .summary = "Groups and versions, and whether their pipes are there",
    .help = "Shows every API version this program knows, how many RPCs it has, and whether its pipe is there "
            "now. "
            "No call is made: it works without the rights to connect.",
    .run = run_list,
};
