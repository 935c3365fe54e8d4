/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/listing.h"

#include <string.h>

#include "client/ctl/output.h"
#include "client/ctl/units.h"

static enum csi_style write_cell(const struct csi_column *column, struct csi_ctl_view item, const char *each,
                                 struct csi_arena *arena, struct csi_text_buffer *cell) {
  char unit[CSI_UNIT_BYTES];
  switch (column->kind) {
  case CSI_COLUMN_SHOW:
    csi_text_buffer_put(cell, csi_ctl_show(item, column->path, arena));
    break;
  case CSI_COLUMN_BYTES:
    csi_text_buffer_put(cell, csi_units_bytes(unit, csi_ctl_u64(item, column->path)));
    break;
  case CSI_COLUMN_TEXTS:
    for (size_t i = 0; i < csi_ctl_count(item, column->path); i++) {
      if (i > 0) csi_text_buffer_put(cell, ", ");
      csi_text_buffer_put(cell, csi_ctl_text_item(item, column->path, i, arena));
    }
    break;
  case CSI_COLUMN_EACH:
    csi_text_buffer_put(cell, each);
    break;
  case CSI_COLUMN_CUSTOM:
    return column->write(item, arena, cell);
  }
  return CSI_STYLE_PLAIN;
}

static void add_row(struct csi_table *table, const struct csi_section *section, struct csi_ctl_view item,
                    const char *each, struct csi_arena *arena) {
  struct csi_text_buffer cell = {0};
  for (size_t i = 0; i < section->column_count; i++) {
    csi_text_buffer_clear(&cell);
    enum csi_style style = write_cell(&section->columns[i], item, each, arena, &cell);
    table->out_of_memory |= cell.out_of_memory;
    csi_table_cell(table, style, cell.text, cell.length_bytes);
  }
  csi_text_buffer_free(&cell);
}

static void add_rows(struct csi_table *table, const struct csi_section *section, struct csi_ctl_view item,
                     struct csi_arena *arena) {
  if (section->each == NULL) add_row(table, section, item, "", arena);
  for (size_t i = 0; section->each != NULL && i < csi_ctl_count(item, section->each); i++)
    add_row(table, section, item, csi_ctl_text_item(item, section->each, i, arena), arena);
}

/* Whether an item may be missing from the table, or rows from an item. */
static bool has_errors(struct csi_ctl_view message, const struct csi_section *section) {
  if (section->unknown == NULL) return false;
  if (csi_ctl_count(message, "errors") > 0) return true;
  for (size_t i = 0; section->each != NULL && i < csi_ctl_count(message, section->items); i++)
    if (csi_ctl_count(csi_ctl_item(message, section->items, i), "errors") > 0) return true;
  return false;
}

void csi_section_print(struct csi_ctl_view message, const struct csi_section *section,
                       struct csi_arena *arena, struct csi_text_buffer *buffer, size_t limit_columns) {
  struct csi_table table = {0};
  for (size_t i = 0; i < section->column_count; i++)
    csi_table_column(&table, section->columns[i].heading, section->columns[i].align);
  for (size_t i = 0; i < csi_ctl_count(message, section->items); i++) {
    struct csi_ctl_view item = csi_ctl_item(message, section->items, i);
    if (section->is_left_out == NULL || !section->is_left_out(item, arena))
      add_rows(&table, section, item, arena);
  }
  if (section->title != NULL) csi_text_buffer_print(buffer, "%s\n", section->title);
  if (table.cell_count > 0 || table.out_of_memory)
    csi_table_print(&table, buffer, limit_columns);
  else
    csi_text_buffer_print(buffer, "%s\n", has_errors(message, section) ? section->unknown : section->none);
  csi_table_free(&table);
}

/* False when the service could not list everything. */
static bool is_complete(const struct csi_listing *listing, struct csi_ctl_view response) {
  return listing->sections[0].unknown == NULL || csi_ctl_count(response, "errors") == 0;
}

static int show(struct csi_ctl *ctl, const struct csi_listing *listing, struct csi_ctl_message *response) {
  int result;
  struct csi_ctl_view view = csi_ctl_view_of(response);
  bool complete = is_complete(listing, view);
  if (ctl->format != CSI_CTL_TABLE) {
    result = csi_output_message(ctl, response);
  } else {
    struct csi_text_buffer buffer = {.coloured = csi_output_coloured(ctl)};
    for (size_t i = 0; i < listing->section_count; i++) {
      if (i > 0) csi_text_buffer_put(&buffer, "\n");
      csi_section_print(view, &listing->sections[i], ctl->arena, &buffer, csi_output_columns());
    }
    if (listing->remarks != NULL) listing->remarks(view, ctl->arena, &buffer);
    if (!complete) csi_listing_errors(view, "errors", "", ctl->arena, &buffer);
    result = csi_output_write(ctl, &buffer);
  }
  csi_ctl_message_free(response);
  return result == CSI_CTL_DONE && !complete ? CSI_CTL_REFUSED : result;
}

int csi_listing_run(struct csi_ctl *ctl, const struct csi_listing *listing) {
  struct csi_ctl_message response;
  struct csi_ctl_error error;
  if (!csi_ctl_call(ctl, "admin", "v1", listing->rpc, NULL, &response, &error))
    return csi_ctl_report(ctl, &error);
  return show(ctl, listing, &response);
}

void csi_listing_errors(struct csi_ctl_view view, const char *path, const char *subject,
                        struct csi_arena *arena, struct csi_text_buffer *buffer) {
  for (size_t i = 0; i < csi_ctl_count(view, path); i++) {
    const char *text = csi_ctl_text_item(view, path, i, arena);
    csi_text_buffer_styled(buffer, CSI_STYLE_BAD, "! ");
    csi_text_buffer_put(buffer, subject);
    csi_text_buffer_wrap(buffer, text, 2 + strlen(subject), csi_output_columns());
  }
}
