/* SPDX-License-Identifier: Apache-2.0 */
#include "client/ctl/table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/ctl/width.h"

enum {
  FIRST_CELLS = 64,
  GAP = 2,        /* columns between two columns */
  NARROWEST = 12, /* nothing is made narrower than this to fit a terminal */
  ELLIPSIS_COLUMNS = 1,
};

static const char ellipsis[] = "\xE2\x80\xA6";

struct csi_table_cell {
  char *text; /* escaped */
  size_t length_bytes;
  size_t columns;
  enum csi_style style;
};

void csi_table_column(struct csi_table *table, const char *heading, enum csi_align align) {
  assert(table->column_count < CSI_TABLE_COLUMNS && table->cell_count == 0);
  table->columns[table->column_count++] = (struct csi_table_column){
      .heading = heading, .align = align, .columns = csi_text_columns(heading, strlen(heading))};
}

static bool reserve(struct csi_table *table) {
  if (table->out_of_memory) return false;
  if (table->cell_count < table->cell_capacity) return true;
  size_t capacity = table->cell_capacity == 0 ? FIRST_CELLS : 2 * table->cell_capacity;
  struct csi_table_cell *cells = realloc(table->cells, capacity * sizeof *cells);
  table->out_of_memory = cells == NULL;
  if (cells == NULL) return false;
  table->cells = cells;
  table->cell_capacity = capacity;
  return true;
}

void csi_table_cell(struct csi_table *table, enum csi_style style, const char *text, size_t length_bytes) {
  if (!reserve(table)) return;
  struct csi_text_buffer escaped = {0};
  if (length_bytes > 0)
    csi_text_buffer_put_escaped(&escaped, text, length_bytes);
  else
    csi_text_buffer_put(&escaped, "-");
  table->out_of_memory = escaped.out_of_memory;
  if (table->out_of_memory) {
    csi_text_buffer_free(&escaped);
    return;
  }
  struct csi_table_column *column = &table->columns[table->cell_count % table->column_count];
  size_t columns = csi_text_columns(escaped.text, escaped.length_bytes);
  if (columns > column->columns) column->columns = columns;
  if (length_bytes > 0) column->is_filled = true;
  table->cells[table->cell_count++] = (struct csi_table_cell){
      .text = escaped.text, .length_bytes = escaped.length_bytes, .columns = columns, .style = style};
}

void csi_table_text(struct csi_table *table, enum csi_style style, const char *text) {
  csi_table_cell(table, style, text, strlen(text));
}

void csi_table_number(struct csi_table *table, enum csi_style style, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  csi_table_text(table, style, text);
}

static size_t total(const size_t *widths, size_t count) {
  size_t columns = 0;
  for (size_t i = 0; i < count; i++) {
    if (widths[i] > 0) columns += widths[i] + (i > 0 ? GAP : 0);
  }
  return columns;
}

/* Takes one column after another from the widest, the rightmost of equals, until all fit or none has more to
 * give. */
static void make_fit(size_t *widths, size_t count, size_t limit_columns) {
  while (total(widths, count) > limit_columns) {
    size_t widest = 0;
    for (size_t i = 1; i < count; i++) {
      if (widths[i] >= widths[widest]) widest = i;
    }
    if (widths[widest] <= NARROWEST) return;
    widths[widest]--;
  }
}

static void print_padded(struct csi_text_buffer *buffer, const struct csi_table_cell *cell, size_t width,
                         enum csi_align align, bool last) {
  size_t shown = cell->length_bytes, columns = cell->columns;
  bool cut = columns > width;
  if (cut) shown = csi_text_fit(cell->text, cell->length_bytes, width - ELLIPSIS_COLUMNS, &columns);
  if (cut) columns += ELLIPSIS_COLUMNS;
  size_t padding = width - columns;
  if (align == CSI_ALIGN_RIGHT) csi_text_buffer_fill(buffer, ' ', padding);
  csi_text_buffer_begin(buffer, cell->style);
  csi_text_buffer_add(buffer, cell->text, shown);
  if (cut) csi_text_buffer_put(buffer, ellipsis);
  csi_text_buffer_end(buffer, cell->style);
  if (align == CSI_ALIGN_LEFT && !last) csi_text_buffer_fill(buffer, ' ', padding);
}

/* Which columns are shown, and how wide. 0 = not at all. */
static void lay_out(const struct csi_table *table, size_t *widths, size_t limit_columns) {
  size_t count = table->column_count;
  for (size_t i = 0; i < count; i++)
    widths[i] = table->columns[i].columns;
  if (limit_columns == 0) return;
  for (size_t i = count; i-- > 1 && total(widths, count) > limit_columns;) {
    if (!table->columns[i].is_filled) widths[i] = 0;
  }
  make_fit(widths, count, limit_columns);
  for (size_t i = 0, begin = 0; i < count; i++) {
    size_t left = begin < limit_columns ? limit_columns - begin : 0;
    if (widths[i] > left) widths[i] = left;
    if (widths[i] > 0) begin += widths[i] + GAP;
  }
}

static void print_row(const struct csi_table *table, const struct csi_table_cell *cells, const size_t *widths,
                      struct csi_text_buffer *buffer) {
  size_t last = table->column_count - 1;
  while (last > 0 && widths[last] == 0)
    last--;
  for (size_t i = 0; i <= last; i++) {
    if (widths[i] == 0) continue;
    if (i > 0) csi_text_buffer_fill(buffer, ' ', GAP);
    print_padded(buffer, &cells[i], widths[i], table->columns[i].align, i == last);
  }
  csi_text_buffer_put(buffer, "\n");
}

static void print_heading(const struct csi_table *table, const size_t *widths,
                          struct csi_text_buffer *buffer) {
  struct csi_table_cell cells[CSI_TABLE_COLUMNS] = {0};
  for (size_t i = 0; i < table->column_count; i++) {
    const char *heading = table->columns[i].heading;
    size_t length_bytes = strlen(heading);
    cells[i] = (struct csi_table_cell){.text = (char *)heading,
                                       .length_bytes = length_bytes,
                                       .columns = csi_text_columns(heading, length_bytes),
                                       .style = CSI_STYLE_STRONG};
  }
  print_row(table, cells, widths, buffer);
}

/* The headings of the columns for which there is no room. */
static void print_left_out(const struct csi_table *table, const size_t *widths,
                           struct csi_text_buffer *buffer, size_t limit_columns) {
  struct csi_text_buffer names = {0};
  for (size_t i = 0; i < table->column_count; i++) {
    if (widths[i] > 0) continue;
    csi_text_buffer_put(&names, names.length_bytes == 0 ? "(no room for " : ", ");
    csi_text_buffer_put(&names, table->columns[i].heading);
  }
  csi_text_buffer_put(&names, ")");
  buffer->out_of_memory |= names.out_of_memory;
  if (names.length_bytes > 1) csi_text_buffer_wrap(buffer, names.text, 0, limit_columns);
  csi_text_buffer_free(&names);
}

void csi_table_print(const struct csi_table *table, struct csi_text_buffer *buffer, size_t limit_columns) {
  size_t widths[CSI_TABLE_COLUMNS];
  size_t count = table->column_count;
  lay_out(table, widths, limit_columns);
  print_heading(table, widths, buffer);
  for (size_t at = 0; at + count <= table->cell_count; at += count)
    print_row(table, &table->cells[at], widths, buffer);
  print_left_out(table, widths, buffer, limit_columns);
  buffer->out_of_memory |= table->out_of_memory;
}

void csi_table_free(struct csi_table *table) {
  for (size_t i = 0; i < table->cell_count; i++)
    free(table->cells[i].text);
  free(table->cells);
  *table = (struct csi_table){0};
}
