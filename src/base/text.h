/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8, UTF-16, comparison as NTFS compares, and how foreign text is made fit for one line of a log
 * or a status. Pure functions; may be called from any thread, never block.
 */
#ifndef CSI_BASE_TEXT_H
#define CSI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"

/* True when text is well-formed UTF-8: shortest forms, no surrogates, nothing above U+10FFFF. */
bool csi_utf8_is_valid(const char *text, size_t length_bytes);

/* Decodes the character at text (length_bytes > 0) and returns how many bytes it has; 0 when it is not
 * well-formed. */
size_t csi_utf8_decode(const char *text, size_t length_bytes, uint32_t *point_out);

/* Writes the UTF-8 form of a character up to U+10FFFF, without a NUL; returns its length. */
size_t csi_utf8_encode(uint32_t point, char bytes[4]);

/* True for characters that end a line, move the cursor or turn the reading direction: no foreign text may
 * bring them to a log or a terminal. */
bool csi_character_is_treacherous(uint32_t point);

/* Length of the longest beginning of text that is at most limit_bytes long and cuts no character. */
size_t csi_utf8_cut(const char *text, size_t length_bytes, size_t limit_bytes);

/* Converts to NUL-terminated UTF-16 in the arena.
 *
 * units_out (out): length without the NUL; may be NULL. On mingw, uint16_t and wchar_t are one type.
 * Fails with INVALID_ARGUMENT when text is not UTF-8 or holds a NUL, RESOURCE_EXHAUSTED. */
uint16_t *csi_utf16_from_utf8(struct csi_arena *arena, const char *text, size_t length_bytes,
                              size_t *units_out, struct csi_status *status) CSI_MUST_CHECK;

/* Converts to NUL-terminated UTF-8 in the arena. A lone surrogate, which Windows allows in file names,
 * becomes U+FFFD; the conversion is then not reversible. NULL when memory is short. */
char *csi_utf8_from_utf16(struct csi_arena *arena, const uint16_t *text_w, size_t units) CSI_MUST_CHECK;

/* Length in units up to the NUL. */
size_t csi_utf16_length(const uint16_t *text_w);

/* The upper-case form of one UTF-16 unit, as file systems fold names: unit by unit, without regard to
 * language. On Windows this is the system's own table, the one CompareStringOrdinal(..., TRUE) uses.
 * Elsewhere it covers Latin, Greek, Cyrillic and Armenian, which is enough for tests. */
uint16_t csi_utf16_upcase(uint16_t unit);

/* Compares unit by unit in upper case; negative, 0 or positive. NTFS finds a name by this equality. */
int csi_utf16_compare_ignore_case(const uint16_t *a_w, size_t a_units, const uint16_t *b_w, size_t b_units);

/* The same for UTF-8. A byte that is not UTF-8 is equal to the same byte only. */
int csi_utf8_compare_ignore_case(const char *a, size_t a_bytes, const char *b, size_t b_bytes);
bool csi_utf8_equal_ignore_case(const char *a, const char *b);
bool csi_utf8_has_prefix_ignore_case(const char *text, const char *prefix);

enum csi_decimal {
  CSI_DECIMAL_OK,
  CSI_DECIMAL_INVALID,   /* not one or more decimal digits, and nothing else */
  CSI_DECIMAL_TOO_LARGE, /* for 32 bits */
};

/* Reads an unsigned decimal number. */
enum csi_decimal csi_decimal_parse(const char *text, uint32_t *number_out) CSI_MUST_CHECK;

/* Copies text to buffer so that it is one line of valid UTF-8. Control characters (C0, DEL, C1), line
 * and paragraph separators and bidirectional overrides become \n, \r, \t, \x1b or \u202e; a byte that
 * is not UTF-8 becomes \xff. Backslashes stay as they are, so Windows paths stay readable and a text
 * that was escaped before does not change. What does not fit is cut between characters; buffer always
 * ends in a NUL (buffer_bytes > 0). Returns how many bytes of text fitted. */
size_t csi_text_escape(char *buffer, size_t buffer_bytes, const char *text, size_t length_bytes);

/* As csi_text_escape(), but as a quoted string with Go's %q rules: backslashes and quotes escaped too.
 * What does not fit is cut, and the closing quote is kept (buffer_bytes >= 3). Returns buffer. */
char *csi_text_quote(char *buffer, size_t buffer_bytes, const char *text);

/* The same for a text of a given length, which may hold NULs. Returns how many bytes of text fitted. */
size_t csi_text_quote_bytes(char *buffer, size_t buffer_bytes, const char *text, size_t length_bytes);

#endif
