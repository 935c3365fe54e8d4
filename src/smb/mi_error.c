/* SPDX-License-Identifier: Apache-2.0
 *
 * UNVERIFIED ON WINDOWS: the forms of MessageID are those that PowerShell shows as FullyQualifiedErrorId of
 * New-SmbGlobalMapping; the names of error_Type and the meaning of ReturnValue follow the documentation.
 */
#include "smb/mi_error.h"

#include <stdlib.h>
#include <string.h>

#include "base/system_error.h"
#include "base/text.h"
#include "smb/host.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
  HRESULT_FAILURE = 0x80000000,
  /* WBEM_E_* of wbemcli.h */
  GENERIC_FAILURE = 0x80041001,
  NOT_FOUND = 0x80041002,
  INVALID_NAME_SPACE = 0x8004100E,
  INVALID_CLASS = 0x80041010,
  ALREADY_EXISTS = 0x80041019,
  /* winerror.h */
  ERROR_FILE_NOT_FOUND = 2,
  ERROR_FILE_EXISTS = 80,
  ERROR_ALREADY_EXISTS = 183,
  ERROR_NOT_FOUND = 1168,
};

/* By MI_Result. */
static const uint32_t results[] = {
    [1] = GENERIC_FAILURE,    [2] = 0x80041003, /* access denied: by WMI, not by a server */
    [3] = INVALID_NAME_SPACE, [4] = 0x80041008, /* invalid parameter */
    [5] = INVALID_CLASS,      [6] = NOT_FOUND,   [7] = 0x8004100C, /* not supported */
    [11] = ALREADY_EXISTS,    [12] = 0x80041031,                   /* invalid property */
    [13] = 0x80041005,                                             /* type mismatch */
    [15] = 0x80041017,                                             /* invalid query */
    [16] = 0x80041055,                                             /* method disabled */
    [17] = 0x8004102E,                                             /* invalid method */
    [27] = 0x8004106C,                                             /* quota violation */
    [28] = 0x80041033,                                             /* shutting down */
};

static const struct csi_mi_error nothing = {CSI_SPACE_NONE, 0};

static struct csi_mi_error of_hresult(uint32_t number) {
  uint32_t win32 = csi_win32_of_system_error(CSI_SPACE_HRESULT, number);
  if (win32 != CSI_NO_WIN32_ERROR) return (struct csi_mi_error){CSI_SPACE_WIN32, win32};
  return (struct csi_mi_error){CSI_SPACE_HRESULT, number};
}

static struct csi_mi_error of_result(uint32_t result) {
  if (result < COUNT(results) && results[result] != 0) return of_hresult(results[result]);
  return of_hresult(GENERIC_FAILURE);
}

/* What follows prefix in text; NULL when text begins with something else. */
static const char *behind(const char *text, const char *prefix) {
  const size_t prefix_bytes = strlen(prefix);
  return strncmp(text, prefix, prefix_bytes) == 0 ? text + prefix_bytes : NULL;
}

/* 0 when text is not the digits of a number. */
static uint32_t read_decimal(const char *text) {
  uint32_t number;
  return csi_decimal_parse(text, &number) == CSI_DECIMAL_OK ? number : 0;
}

static uint32_t read_hexadecimal(const char *text) {
  enum { DIGITS_MAX = 8 };
  const size_t digits = strspn(text, "0123456789abcdefABCDEF");
  if (digits > DIGITS_MAX || text[digits] != '\0') return 0;
  return (uint32_t)strtoul(text, NULL, 16);
}

/* Number 0: it says nothing. */
static struct csi_mi_error of_message_id(const char *message_id) {
  const char *digits = behind(message_id, "Windows System Error ");
  if (digits != NULL) return (struct csi_mi_error){CSI_SPACE_WIN32, read_decimal(digits)};
  digits = behind(message_id, "HRESULT 0x");
  const uint32_t number = digits == NULL ? 0 : read_hexadecimal(digits);
  return number == 0 ? nothing : of_hresult(number);
}

static struct csi_mi_error of_error_code(const char *type, uint32_t code) {
  if (code == 0) return nothing;
  if (csi_utf8_equal_ignore_case(type, "WIN32")) return (struct csi_mi_error){CSI_SPACE_WIN32, code};
  if (csi_utf8_equal_ignore_case(type, "HRESULT")) return of_hresult(code);
  if (csi_utf8_equal_ignore_case(type, "MI")) return of_result(code);
  return nothing;
}

struct csi_mi_error csi_mi_error_of_failure(const struct csi_mi_failure *failure) {
  struct csi_mi_error error = of_message_id(failure->message_id);
  if (error.number == 0) error = of_error_code(failure->error_type, failure->error_code);
  return error.number == 0 ? of_result(failure->result) : error;
}

struct csi_mi_error csi_mi_error_of_return_value(uint32_t value) {
  if ((value & (uint32_t)HRESULT_FAILURE) != 0) return of_hresult(value);
  return (struct csi_mi_error){CSI_SPACE_WIN32, value};
}

static bool is(struct csi_mi_error error, enum csi_error_space space, uint32_t number) {
  return error.space == space && error.number == number;
}

struct csi_mi_error csi_mi_error_of_create(struct csi_mi_error error) {
  if (is(error, CSI_SPACE_WIN32, ERROR_ALREADY_EXISTS) || is(error, CSI_SPACE_WIN32, ERROR_FILE_EXISTS) ||
      is(error, CSI_SPACE_HRESULT, (uint32_t)ALREADY_EXISTS))
    return (struct csi_mi_error){CSI_SPACE_WIN32, CSI_SMB_ALREADY_ASSIGNED};
  return error;
}

struct csi_mi_error csi_mi_error_of_remove(struct csi_mi_error error) {
  if (is(error, CSI_SPACE_WIN32, ERROR_FILE_NOT_FOUND) || is(error, CSI_SPACE_WIN32, ERROR_NOT_FOUND) ||
      is(error, CSI_SPACE_HRESULT, (uint32_t)NOT_FOUND))
    return (struct csi_mi_error){CSI_SPACE_WIN32, CSI_SMB_NOT_CONNECTED};
  return error;
}

bool csi_mi_error_is_missing(struct csi_mi_error error) {
  return is(error, CSI_SPACE_HRESULT, (uint32_t)NOT_FOUND) ||
         is(error, CSI_SPACE_HRESULT, (uint32_t)INVALID_NAME_SPACE) ||
         is(error, CSI_SPACE_HRESULT, (uint32_t)INVALID_CLASS);
}
