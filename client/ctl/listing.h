/* SPDX-License-Identifier: Apache-2.0
 *
 * Verbs that are one call of the admin group and tables of what it answers, declared as data.
 */
#ifndef CSI_CTL_LISTING_H
#define CSI_CTL_LISTING_H

#include <stddef.h>

#include "client/ctl/ctl.h"
#include "client/ctl/dynamic.h"
#include "client/ctl/table.h"

enum csi_column_kind {
  CSI_COLUMN_SHOW,   /* a number, a boolean or text */
  CSI_COLUMN_BYTES,  /* a number of bytes with its unit */
  CSI_COLUMN_TEXTS,  /* a repeated text, with commas between */
  CSI_COLUMN_EACH,   /* the item of csi_section.each that makes this row */
  CSI_COLUMN_CUSTOM, /* what `write` makes of the item */
};

struct csi_column {
  const char *heading;
  enum csi_align align;
  enum csi_column_kind kind;
  const char *path; /* of the field in an item; not for CSI_COLUMN_EACH and CSI_COLUMN_CUSTOM */
  /* Appends the text of a cell, unescaped; the arena is for what is needed on the way. Returns its style. */
  enum csi_style (*write)(struct csi_ctl_view item, struct csi_arena *arena, struct csi_text_buffer *cell);
};

/* One table. */
struct csi_section {
  const char *title; /* NULL when the table needs none */
  const char *items; /* the repeated message that makes the rows */
  const char *each;  /* NULL: a row for every item; otherwise one for every text of this field of it */
  const struct csi_column *columns;
  size_t column_count;
  const char *none; /* said in place of an empty table */
  /* Said instead of it when the answer has texts in its field `errors`, or, for a table of `each`, an item
   * has: what is missing may be there. NULL: the answer has no such field. */
  const char *unknown;
  bool (*is_left_out)(struct csi_ctl_view item, struct csi_arena *arena); /* NULL: no item is */
};

struct csi_listing {
  const char *rpc; /* of admin v1 */
  const struct csi_section *sections;
  size_t section_count;
  /* Appends what the items say beside the tables: notes and errors. NULL when nothing. */
  void (*remarks)(struct csi_ctl_view response, struct csi_arena *arena, struct csi_text_buffer *buffer);
};

/* Appends a table of the items of a message. */
void csi_section_print(struct csi_ctl_view message, const struct csi_section *section,
                       struct csi_arena *arena, struct csi_text_buffer *buffer, size_t limit_columns);

/* Makes the call and shows what it answers, as -o says, with its `errors` below. Returns an enum
 * csi_ctl_exit; CSI_CTL_REFUSED also when there are errors: something is missing from the list. */
int csi_listing_run(struct csi_ctl *ctl, const struct csi_listing *listing);

/* Appends "! SUBJECT: TEXT" for each text of a repeated field, wrapped. */
void csi_listing_errors(struct csi_ctl_view view, const char *path, const char *subject,
                        struct csi_arena *arena, struct csi_text_buffer *buffer);

#endif
