/* SPDX-License-Identifier: Apache-2.0
 *
 * `explain disk`: what a disk is, and what drivers make of it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "client/ctl/output.h"
#include "client/ctl/people_verbs.h"
#include "client/ctl/units.h"

enum {
  LABEL_COLUMNS = 15,
  FINDING_COLUMNS = 9, /* "PROBLEM" and two blanks */
  PROSE_COLUMNS = 100, /* lines of text are no longer than this on a wide terminal, or without one */
};

struct level {
  uint64_t number; /* FindingLevel of proto/admin/v1 */
  const char *name;
  enum csi_style style;
};

/* In the order in which they are shown. */
static const struct level levels[] = {
    {UINT64_MAX, "UNKNOWN", CSI_STYLE_BAD},
    {2, "PROBLEM", CSI_STYLE_BAD},
    {1, "NOTE", CSI_STYLE_NOTE},
    {0, "OK", CSI_STYLE_GOOD},
};

enum { LEVELS = sizeof levels / sizeof levels[0] };

static size_t prose_columns(void) {
  size_t columns = csi_output_columns();
  return columns == 0 || columns > PROSE_COLUMNS ? PROSE_COLUMNS : columns;
}

static void print_line(struct csi_text_buffer *buffer, const char *label, const char *text) {
  csi_text_buffer_put(buffer, "  ");
  csi_text_buffer_styled(buffer, CSI_STYLE_STRONG, label);
  csi_text_buffer_fill(buffer, ' ', LABEL_COLUMNS - strlen(label));
  csi_text_buffer_put_escaped(buffer, text[0] == '\0' ? "-" : text, text[0] == '\0' ? 1 : strlen(text));
  csi_text_buffer_put(buffer, "\n");
}

/* A line whose value a cell of `disks` shows. */
static void print_cell(struct csi_text_buffer *buffer, const char *label, struct csi_ctl_view disk,
                       struct csi_arena *arena,
                       enum csi_style (*write)(struct csi_ctl_view, struct csi_arena *,
                                               struct csi_text_buffer *)) {
  struct csi_text_buffer cell = {0};
  (void)write(disk, arena, &cell);
  print_line(buffer, label, cell.length_bytes == 0 ? "" : cell.text);
  csi_text_buffer_free(&cell);
}

static enum csi_style write_guards(struct csi_ctl_view disk, struct csi_arena *arena,
                                   struct csi_text_buffer *cell) {
  size_t count = csi_ctl_count(disk, "guarded_by");
  if (count == 0) csi_text_buffer_put(cell, "no: the service changes it when a driver asks");
  for (size_t i = 0; i < count; i++) {
    csi_text_buffer_put(cell, i == 0 ? "yes, by " : ", ");
    csi_text_buffer_put(cell, csi_ctl_text_item(disk, "guarded_by", i, arena));
  }
  return CSI_STYLE_PLAIN;
}

static enum csi_style write_place(struct csi_ctl_view disk, struct csi_arena *arena,
                                  struct csi_text_buffer *cell) {
  (void)arena;
  if (csi_ctl_bool(disk, "has_location"))
    csi_text_buffer_print(cell, "adapter %" PRIu64 ", bus %" PRIu64 ", target %" PRIu64 ", LUN %" PRIu64,
                          csi_ctl_u64(disk, "adapter"), csi_ctl_u64(disk, "bus"), csi_ctl_u64(disk, "target"),
                          csi_ctl_u64(disk, "lun"));
  return CSI_STYLE_PLAIN;
}

static enum csi_style write_size(struct csi_ctl_view disk, struct csi_arena *arena,
                                 struct csi_text_buffer *cell) {
  (void)arena;
  char unit[CSI_UNIT_BYTES];
  uint64_t size_bytes = csi_ctl_u64(disk, "size_bytes"), sector_bytes = csi_ctl_u64(disk, "sector_bytes");
  if (size_bytes == 0) return CSI_STYLE_PLAIN;
  csi_text_buffer_print(cell, "%s (%" PRIu64 " bytes", csi_units_bytes(unit, size_bytes), size_bytes);
  if (sector_bytes != 0) csi_text_buffer_print(cell, ", sectors of %" PRIu64, sector_bytes);
  csi_text_buffer_put(cell, ")");
  return CSI_STYLE_PLAIN;
}

static const struct csi_column partition_columns[] = {
    {"  PARTITION", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "number", NULL},
    {"TYPE", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "type", NULL},
    {"OFFSET", CSI_ALIGN_RIGHT, CSI_COLUMN_BYTES, "offset_bytes", NULL},
    {"SIZE", CSI_ALIGN_RIGHT, CSI_COLUMN_BYTES, "size_bytes", NULL},
    {"VOLUME", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "volume_id", NULL},
};
static const struct csi_section partitions = {
    .items = "partitions",
    .columns = partition_columns,
    .column_count = sizeof partition_columns / sizeof partition_columns[0],
    .none = "  no partitions",
};

static void print_disk(struct csi_ctl_view disk, struct csi_arena *arena, struct csi_text_buffer *buffer) {
  csi_text_buffer_begin(buffer, CSI_STYLE_STRONG);
  csi_text_buffer_print(buffer, "Disk %" PRIu64, csi_ctl_u64(disk, "number"));
  csi_text_buffer_end(buffer, CSI_STYLE_STRONG);
  csi_text_buffer_put(buffer, "\n");
  print_cell(buffer, "Device", disk, arena, csi_disk_device);
  print_line(buffer, "Bus", csi_ctl_text(disk, "bus_type", arena));
  print_cell(buffer, "Size", disk, arena, write_size);
  print_line(buffer, "Serial number", csi_ctl_text(disk, "serial_number", arena));
  print_line(buffer, "Page 83", csi_ctl_text(disk, "page83", arena));
  print_cell(buffer, "Location", disk, arena, write_place);
  print_cell(buffer, "State", disk, arena, csi_disk_state);
  print_line(buffer, "Style", csi_ctl_text(disk, "partition_style", arena));
  print_cell(buffer, "Guarded", disk, arena, write_guards);
  csi_text_buffer_put(buffer, "\n");
  csi_section_print(disk, &partitions, arena, buffer, csi_output_columns());
  csi_listing_errors(disk, "errors", "", arena, buffer);
}

static void print_finding(struct csi_ctl_view finding, const struct level *level, struct csi_arena *arena,
                          struct csi_text_buffer *buffer) {
  const char *subject = csi_ctl_text(finding, "subject", arena);
  const char *advice = csi_ctl_text(finding, "advice", arena);
  csi_text_buffer_styled(buffer, level->style, level->name);
  csi_text_buffer_fill(buffer, ' ', FINDING_COLUMNS - strlen(level->name));
  csi_text_buffer_begin(buffer, CSI_STYLE_STRONG);
  csi_text_buffer_put_escaped(buffer, subject, strlen(subject));
  csi_text_buffer_end(buffer, CSI_STYLE_STRONG);
  csi_text_buffer_put(buffer, "\n");
  csi_text_buffer_fill(buffer, ' ', FINDING_COLUMNS);
  csi_text_buffer_wrap(buffer, csi_ctl_text(finding, "text", arena), FINDING_COLUMNS, prose_columns());
  if (advice[0] == '\0') return;
  csi_text_buffer_fill(buffer, ' ', FINDING_COLUMNS);
  csi_text_buffer_put(buffer, "-> ");
  csi_text_buffer_wrap(buffer, advice, FINDING_COLUMNS + 3, prose_columns());
}

/* The first level, `unknown`, is that of a newer service, which may be the gravest. */
static const struct level *level_of(struct csi_ctl_view finding) {
  uint64_t number = csi_ctl_u64(finding, "level");
  for (size_t i = 1; i < LEVELS; i++)
    if (levels[i].number == number) return &levels[i];
  return &levels[0];
}

static void print_findings(struct csi_ctl_view response, struct csi_arena *arena,
                           struct csi_text_buffer *buffer) {
  size_t count = csi_ctl_count(response, "findings");
  csi_text_buffer_put(buffer, "\n");
  for (const struct level *level = levels; level < levels + LEVELS; level++) {
    for (size_t i = 0; i < count; i++) {
      struct csi_ctl_view finding = csi_ctl_item(response, "findings", i);
      if (level_of(finding) == level) print_finding(finding, level, arena, buffer);
    }
  }
}

/* ---- Which disk. ---- */

/* True when text is the serial number or page 83 identifier of the disk, in upper or lower case. */
static bool is_named(struct csi_ctl_view disk, const char *text, struct csi_arena *arena) {
  return csi_utf8_equal_ignore_case(csi_ctl_text(disk, "serial_number", arena), text) ||
         csi_utf8_equal_ignore_case(csi_ctl_text(disk, "page83", arena), text);
}

/* Asks for all disks. False: the error; NOT_FOUND or FAILED_PRECONDITION when not exactly one disk has the
 * name. */
static bool find_by_name(struct csi_ctl *ctl, const char *name, uint32_t *number_out,
                         struct csi_ctl_error *error) {
  struct csi_ctl_message response;
  if (!csi_ctl_call(ctl, "admin", "v1", "ListDisks", NULL, &response, error)) return false;
  struct csi_ctl_view view = csi_ctl_view_of(&response);
  size_t found = 0;
  for (size_t i = 0; i < csi_ctl_count(view, "disks"); i++) {
    struct csi_ctl_view disk = csi_ctl_item(view, "disks", i);
    if (!is_named(disk, name, ctl->arena)) continue;
    *number_out = (uint32_t)csi_ctl_u64(disk, "number");
    found++;
  }
  csi_ctl_message_free(&response);
  if (found == 1) return true;
  if (found == 0)
    csi_ctl_fail(error, CSI_NOT_FOUND, "no disk has the number, serial number or page 83 identifier \"%s\"",
                 name);
  else
    csi_ctl_fail(error, CSI_FAILED_PRECONDITION,
                 "%zu disks have the serial number or page 83 identifier \"%s\"", found, name);
  return csi_ctl_hint(error, "\"csi-proxyctl disks\" shows them all; name the disk by its number");
}

static bool explain(struct csi_ctl *ctl, uint32_t number, struct csi_ctl_message *response_out,
                    struct csi_ctl_error *error) {
  const upb_MethodDef *method;
  struct csi_ctl_message request = {0};
  if (!csi_ctl_find_rpc(ctl, "admin", "v1", "ExplainDisk", &method, error) ||
      !csi_ctl_message_new(&request, upb_MethodDef_InputType(method), error))
    return false;
  bool ok = csi_ctl_set_u64(&request, "disk_number", number)
                ? csi_ctl_call(ctl, "admin", "v1", "ExplainDisk", &request, response_out, error)
                : csi_ctl_fail_out_of_memory(error);
  csi_ctl_message_free(&request);
  return ok;
}

/* Digits alone are a number first, and a serial number when no disk has it. */
static bool find_and_explain(struct csi_ctl *ctl, const char *name, struct csi_ctl_message *response_out,
                             struct csi_ctl_error *error) {
  uint32_t number;
  if (name[0] == '\0') return csi_ctl_wrong(error, "the name of the disk is empty");
  if (csi_decimal_parse(name, &number) == CSI_DECIMAL_OK) {
    if (explain(ctl, number, response_out, error)) return true;
    if (error->exit != CSI_CTL_REFUSED || error->failure.precise_code != CSI_NOT_FOUND) return false;
  }
  return find_by_name(ctl, name, &number, error) && explain(ctl, number, response_out, error);
}

int csi_explain_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc;
  struct csi_ctl_error error = {0};
  struct csi_ctl_message response;
  if (strcmp(argv[1], "disk") != 0) {
    csi_ctl_wrong(&error, "only disks can be explained, not \"%s\"", argv[1]);
    csi_ctl_hint(&error, "usage: csi-proxyctl explain disk NUMBER|SERIAL|PAGE83");
    return csi_ctl_report(ctl, &error);
  }
  if (!find_and_explain(ctl, argv[2], &response, &error)) return csi_ctl_report(ctl, &error);
  int result;
  if (ctl->format != CSI_CTL_TABLE) {
    result = csi_output_message(ctl, &response);
  } else {
    struct csi_text_buffer buffer = {.coloured = csi_output_coloured(ctl)};
    struct csi_ctl_view view = csi_ctl_view_of(&response);
    print_disk(csi_ctl_message_at(view, "disk"), ctl->arena, &buffer);
    print_findings(view, ctl->arena, &buffer);
    result = csi_output_write(ctl, &buffer);
  }
  csi_ctl_message_free(&response);
  return result;
}
