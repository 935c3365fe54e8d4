/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables for people. Cells are kept until the table is printed, because their widths make the columns.
 *
 *   struct csi_table table = {0};
 *   csi_table_column(&table, "DISK", CSI_ALIGN_RIGHT);
 *   csi_table_column(&table, "NAME", CSI_ALIGN_LEFT);
 *   csi_table_cell(&table, CSI_STYLE_STRONG, "3", 1);
 *   csi_table_cell(&table, CSI_STYLE_PLAIN, "vol", 3);
 *   csi_table_print(&table, &buffer, 80);
 *   csi_table_free(&table);
 *
 * Not thread-safe; never blocks.
 */
#ifndef CSI_CTL_TABLE_H
#define CSI_CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/ctl/text_buffer.h"

enum {
  CSI_TABLE_COLUMNS = 16,
};

enum csi_align {
  CSI_ALIGN_LEFT,
  CSI_ALIGN_RIGHT,
};

struct csi_table_column {
  const char *heading; /* literal */
  enum csi_align align;
  size_t columns; /* of the widest cell, the heading included */
  bool is_filled; /* some cell has a text */
};

struct csi_table_cell;

/* All zero is a table without columns. */
struct csi_table {
  struct csi_table_column columns[CSI_TABLE_COLUMNS];
  size_t column_count;
  struct csi_table_cell *cells; /* row by row */
  size_t cell_count;
  size_t cell_capacity;
  bool out_of_memory;
};

/* Before the first cell; at most CSI_TABLE_COLUMNS. */
void csi_table_column(struct csi_table *table, const char *heading, enum csi_align align);

/* Adds the next cell, from left to right, row by row. The text may be foreign: it is escaped. Empty text is
 * shown as "-". */
void csi_table_cell(struct csi_table *table, enum csi_style style, const char *text, size_t length_bytes);

/* The same for text that ends in a NUL. */
void csi_table_text(struct csi_table *table, enum csi_style style, const char *text);

/* The same for a number. */
void csi_table_number(struct csi_table *table, enum csi_style style, uint64_t number);

/* Appends heading and rows to buffer, one line each, without blanks at their ends.
 *
 * limit_columns: 0 = lines may be of any length; otherwise columns without any text are left out from the
 * right, then the widest are made narrower, and a text that is cut ends in an ellipsis; when that is not
 * enough, the rightmost are left out. A line below the table names those that were left out. */
void csi_table_print(const struct csi_table *table, struct csi_text_buffer *buffer, size_t limit_columns);

void csi_table_free(struct csi_table *table);

#endif
