/* SPDX-License-Identifier: Apache-2.0
 *
 * `status`: the service on one screen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/ctl/output.h"
#include "client/ctl/people_verbs.h"
#include "client/ctl/units.h"

enum {
  PART_PRESENT = 1, /* PartState of proto/admin/v1 */
  PART_MISSING = 2,
  LABEL_COLUMNS = 10,
};

/* Connections of a group on all its pipes. */
struct traffic {
  uint64_t pipes;
  uint64_t open;
  uint64_t total;
  uint64_t rejected;
};

static struct traffic traffic_of(struct csi_ctl_view status, const char *group, struct csi_arena *arena) {
  struct traffic traffic = {0};
  for (size_t i = 0; i < csi_ctl_count(status, "pipes"); i++) {
    struct csi_ctl_view pipe = csi_ctl_item(status, "pipes", i);
    if (strcmp(csi_ctl_text(pipe, "group", arena), group) != 0) continue;
    traffic.pipes++;
    traffic.open += csi_ctl_u64(pipe, "connections");
    traffic.total += csi_ctl_u64(pipe, "connections_total");
    traffic.rejected += csi_ctl_u64(pipe, "connections_rejected_total");
  }
  return traffic;
}

static void add_traffic(struct csi_table *table, struct traffic traffic) {
  csi_table_number(table, CSI_STYLE_PLAIN, traffic.pipes);
  csi_table_number(table, CSI_STYLE_PLAIN, traffic.open);
  csi_table_number(table, CSI_STYLE_PLAIN, traffic.total);
  csi_table_number(table, traffic.rejected > 0 ? CSI_STYLE_BAD : CSI_STYLE_PLAIN, traffic.rejected);
}

static void add_group(struct csi_table *table, struct csi_ctl_view status, struct csi_ctl_view group,
                      struct csi_arena *arena) {
  const char *name = csi_ctl_text(group, "group", arena);
  csi_table_text(table, CSI_STYLE_PLAIN, name);
  if (csi_ctl_bool(group, "ready"))
    csi_table_text(table, CSI_STYLE_GOOD, "ready");
  else if (csi_ctl_bool(group, "required"))
    csi_table_text(table, CSI_STYLE_BAD, "not ready");
  else
    csi_table_text(table, CSI_STYLE_NOTE, "not ready (not required)");
  add_traffic(table, traffic_of(status, name, arena));
}

static void print_groups(struct csi_ctl_view status, struct csi_arena *arena,
                         struct csi_text_buffer *buffer) {
  struct csi_table table = {0};
  static const char *const headings[] = {"GROUP", "STATE", "PIPES", "CONNECTIONS", "SINCE START", "REJECTED"};
  for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
    csi_table_column(&table, headings[i], i < 2 ? CSI_ALIGN_LEFT : CSI_ALIGN_RIGHT);
  for (size_t i = 0; i < csi_ctl_count(status, "groups"); i++)
    add_group(&table, status, csi_ctl_item(status, "groups", i), arena);
  struct traffic admin = traffic_of(status, "admin", arena);
  if (admin.pipes > 0) {
    csi_table_text(&table, CSI_STYLE_PLAIN, "admin");
    csi_table_text(&table, CSI_STYLE_GOOD, "answers");
    add_traffic(&table, admin);
  }
  csi_table_print(&table, buffer, csi_output_columns());
  csi_table_free(&table);
}

static void print_part(struct csi_ctl_view part, const char *group, struct csi_arena *arena,
                       struct csi_text_buffer *buffer) {
  uint64_t state = csi_ctl_u64(part, "state");
  const char *detail = csi_ctl_text(part, "detail", arena);
  if (state == PART_PRESENT && detail[0] == '\0') return;
  bool required = csi_ctl_bool(part, "required");
  enum csi_style style = state == PART_MISSING && required ? CSI_STYLE_BAD : CSI_STYLE_NOTE;
  csi_text_buffer_styled(buffer, style, "! ");
  csi_text_buffer_put_escaped(buffer, group, strlen(group));
  csi_text_buffer_put(buffer, ": ");
  const char *name = csi_ctl_text(part, "name", arena);
  csi_text_buffer_put_escaped(buffer, name, strlen(name));
  csi_text_buffer_put(buffer, state == PART_PRESENT   ? " is there, but"
                              : state == PART_MISSING ? " is missing"
                                                      : " is not known to be there");
  csi_text_buffer_put(buffer, required || state == PART_PRESENT ? "\n" : " (some calls need it)\n");
  if (detail[0] == '\0') return;
  csi_text_buffer_fill(buffer, ' ', 4);
  csi_text_buffer_wrap(buffer, detail, 4, csi_output_columns());
}

static void print_parts(struct csi_ctl_view status, struct csi_arena *arena, struct csi_text_buffer *buffer) {
  for (size_t i = 0; i < csi_ctl_count(status, "groups"); i++) {
    struct csi_ctl_view group = csi_ctl_item(status, "groups", i);
    for (size_t at = 0; at < csi_ctl_count(group, "parts"); at++)
      print_part(csi_ctl_item(group, "parts", at), csi_ctl_text(group, "group", arena), arena, buffer);
  }
}

/* The pipes that somebody has used. */
static void print_pipes(struct csi_ctl_view status, struct csi_arena *arena, struct csi_text_buffer *buffer) {
  struct csi_table table = {0};
  csi_table_column(&table, "PIPE", CSI_ALIGN_LEFT);
  csi_table_column(&table, "CONNECTIONS", CSI_ALIGN_RIGHT);
  csi_table_column(&table, "SINCE START", CSI_ALIGN_RIGHT);
  for (size_t i = 0; i < csi_ctl_count(status, "pipes"); i++) {
    struct csi_ctl_view pipe = csi_ctl_item(status, "pipes", i);
    if (csi_ctl_u64(pipe, "connections_total") == 0) continue;
    csi_table_text(&table, CSI_STYLE_PLAIN, csi_ctl_text(pipe, "pipe", arena));
    csi_table_number(&table, CSI_STYLE_PLAIN, csi_ctl_u64(pipe, "connections"));
    csi_table_number(&table, CSI_STYLE_PLAIN, csi_ctl_u64(pipe, "connections_total"));
  }
  if (table.cell_count > 0) {
    csi_text_buffer_put(buffer, "\n");
    csi_table_print(&table, buffer, csi_output_columns());
  }
  csi_table_free(&table);
}

static void print_label(struct csi_text_buffer *buffer, const char *label) {
  csi_text_buffer_styled(buffer, CSI_STYLE_STRONG, label);
  csi_text_buffer_fill(buffer, ' ', LABEL_COLUMNS - strlen(label));
}

static void print_heading(struct csi_ctl_view status, struct csi_arena *arena,
                          struct csi_text_buffer *buffer) {
  char unit[CSI_UNIT_BYTES];
  const char *version = csi_ctl_text(status, "version", arena);
  csi_text_buffer_put(buffer, "csi-proxy ");
  csi_text_buffer_put_escaped(buffer, version, strlen(version));
  csi_text_buffer_print(buffer, ", process %" PRIu64 ": ", csi_ctl_u64(status, "process_id"));
  if (csi_ctl_bool(status, "stopping"))
    csi_text_buffer_styled(buffer, CSI_STYLE_NOTE, "is being stopped");
  else if (csi_ctl_bool(status, "ready"))
    csi_text_buffer_styled(buffer, CSI_STYLE_GOOD, "ready");
  else
    csi_text_buffer_styled(buffer, CSI_STYLE_BAD, "not ready");
  csi_text_buffer_put(buffer, "\n");
  print_label(buffer, "Up since");
  csi_text_buffer_put(buffer, csi_units_time(unit, csi_ctl_i64(status, "started_unix_ms")));
  csi_text_buffer_print(buffer, " (%s)\n", csi_units_age(unit, csi_ctl_i64(status, "uptime_ms")));
}

/* Not more than a time can have: the number comes from outside. */
static int64_t microseconds(int64_t time_ms) {
  if (time_ms < 0) return 0;
  return time_ms > INT64_MAX / 1000 ? INT64_MAX : time_ms * 1000;
}

static void print_use(struct csi_ctl_view status, struct csi_arena *arena, struct csi_text_buffer *buffer) {
  char resident[CSI_UNIT_BYTES], private[CSI_UNIT_BYTES], processor[CSI_UNIT_BYTES];
  print_label(buffer, "Calls");
  csi_text_buffer_print(
      buffer,
      "%" PRIu64 " running, %" PRIu64 " since the start, %" PRIu64 " failed, %" PRIu64 " of them rejected\n",
      csi_ctl_u64(status, "calls_running"), csi_ctl_u64(status, "calls_started_total"),
      csi_ctl_u64(status, "calls_failed_total"), csi_ctl_u64(status, "calls_rejected_total"));
  print_label(buffer, "Uses");
  csi_text_buffer_print(buffer,
                        "%s memory (%s private), %" PRIu64 " threads, %" PRIu64 " handles, %s CPU time\n",
                        csi_units_bytes(resident, csi_ctl_u64(status, "resident_bytes")),
                        csi_units_bytes(private, csi_ctl_u64(status, "private_bytes")),
                        csi_ctl_u64(status, "threads"), csi_ctl_u64(status, "handles"),
                        csi_units_duration(processor, microseconds(csi_ctl_i64(status, "cpu_ms"))));
  print_label(buffer, "Metrics");
  const char *metrics = csi_ctl_text(status, "metrics_address", arena);
  csi_text_buffer_put_escaped(buffer, metrics[0] == '\0' ? "off" : metrics,
                              metrics[0] == '\0' ? 3 : strlen(metrics));
  csi_text_buffer_put(buffer, "\n");
  if (csi_ctl_count(status, "flags") == 0) return;
  print_label(buffer, "Flags");
  for (size_t i = 0; i < csi_ctl_count(status, "flags"); i++) {
    if (i > 0) csi_text_buffer_fill(buffer, ' ', LABEL_COLUMNS);
    const char *flag = csi_ctl_text_item(status, "flags", i, arena);
    csi_text_buffer_put_escaped(buffer, flag, strlen(flag));
    csi_text_buffer_put(buffer, "\n");
  }
}

static int show(struct csi_ctl *ctl, const struct csi_ctl_message *response) {
  if (ctl->format != CSI_CTL_TABLE) return csi_output_message(ctl, response);
  struct csi_text_buffer buffer = {.coloured = csi_output_coloured(ctl)};
  struct csi_ctl_view status = csi_ctl_view_of(response);
  print_heading(status, ctl->arena, &buffer);
  print_use(status, ctl->arena, &buffer);
  csi_text_buffer_put(&buffer, "\n");
  print_groups(status, ctl->arena, &buffer);
  print_parts(status, ctl->arena, &buffer);
  print_pipes(status, ctl->arena, &buffer);
  return csi_output_write(ctl, &buffer);
}

int csi_status_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  struct csi_ctl_message response;
  struct csi_ctl_error error;
  if (!csi_ctl_call(ctl, "admin", "v1", "GetStatus", NULL, &response, &error))
    return csi_ctl_report(ctl, &error);
  bool ready = csi_ctl_bool(csi_ctl_view_of(&response), "ready");
  int result = show(ctl, &response);
  csi_ctl_message_free(&response);
  return result == CSI_CTL_DONE && !ready ? CSI_CTL_NOT_READY : result;
}
