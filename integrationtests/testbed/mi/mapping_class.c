/* SPDX-License-Identifier: Apache-2.0 */
#include "mapping_class.h"

#include <windows.h>

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "instance.h"
#include "network/network.h"
#include "network/secret.h"
#include "network/share_folders.h"
#include "network/shares.h"
#include "texts.h"

#define CLASS "MSFT_SmbGlobalMapping"

static const wchar_t class_name_w[] = L"" CLASS;

enum {
  TIMED_OUT = 0x80041069, /* WBEM_E_TIMED_OUT */
  USER_BYTES = 4 * MI_VALUE_UNITS,
};

/* Of MSFT_SmbGlobalMapping.Status. */
enum {
  STATUS_OK = 0,
  STATUS_DISCONNECTED = 2,
};

static struct mi_outcome failed(MI_Result result) {
  return (struct mi_outcome){.result = result};
}

/* Either slash, either case. */
static bool is_name_space(const wchar_t *name_space_w) {
  static const wchar_t expected_w[] = L"root/microsoft/windows/smb";
  if (name_space_w == NULL || wcslen(name_space_w) != wcslen(expected_w)) return false;
  for (size_t i = 0; expected_w[i] != L'\0'; i++) {
    wchar_t unit = name_space_w[i] == L'\\' ? L'/' : name_space_w[i];
    if (towlower(unit) != expected_w[i]) return false;
  }
  return true;
}

/* ---- Time limits and faults. ---- */

static bool is_over(void *context) {
  const ULONGLONG *end_ms = context;
  return GetTickCount64() >= *end_ms;
}

/* Counts the call, and does what a fault demands. 0, or the error the call has. */
static uint32_t begin(const char *call, uint32_t timeout_ms) {
  ULONGLONG end_ms = GetTickCount64() + timeout_ms;
  uint32_t error = network_begin_call_until(call, is_over, &end_ms);
  if (error != 0) return error;
  return is_over(&end_ms) ? (uint32_t)TIMED_OUT : 0;
}

/* ---- Texts. ---- */

static bool to_utf8(const wchar_t *text_w, char *text_out, int bytes) {
  return WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, text_w, -1, text_out, bytes, NULL, NULL) > 0;
}

static bool read_root(const wchar_t *text_w, char root_out[NETWORK_ROOT_BYTES]) {
  char text[NETWORK_ROOT_BYTES];
  return to_utf8(text_w, text, sizeof text) && network_share_root(text, root_out);
}

/* ---- Query. ---- */

static MI_Instance *describe(const struct network_record *mapping) {
  wchar_t root_w[NETWORK_ROOT_BYTES];
  MultiByteToWideChar(CP_UTF8, 0, network_get(mapping, "root"), -1, root_w, NETWORK_ROOT_BYTES);
  MI_Instance *instance = mi_instance_new();
  if (mi_instance_add_text(instance, L"LocalPath", NULL) &&
      mi_instance_add_text(instance, L"RemotePath", root_w) &&
      mi_instance_add_number(instance, L"Status",
                             network_share_is_broken(mapping) ? STATUS_DISCONNECTED : STATUS_OK))
    return instance;
  mi_instance_delete(instance);
  return NULL;
}

static struct mi_outcome find_mapping(const char *root) {
  struct mi_outcome outcome = {.is_list = true};
  struct network_state *state = network_open();
  if (state == NULL) return mi_failed_with(GetLastError());
  const struct network_record *mapping = network_share_mapping(state, root);
  if (mapping != NULL) outcome.instance = describe(mapping);
  if (mapping != NULL && outcome.instance == NULL) outcome.result = MI_RESULT_FAILED;
  network_close(state);
  return outcome;
}

struct mi_outcome mi_mapping_query(const wchar_t *name_space_w, const wchar_t *dialect_w,
                                   const wchar_t *query_w, uint32_t timeout_ms) {
  struct mi_query query;
  char root[NETWORK_ROOT_BYTES];
  if (!is_name_space(name_space_w)) return failed(MI_RESULT_INVALID_NAMESPACE);
  if (_wcsicmp(dialect_w, L"WQL") != 0 || !mi_query_parse(query_w, &query))
    return failed(MI_RESULT_INVALID_QUERY);
  if (_stricmp(query.class_name, CLASS) != 0) return failed(MI_RESULT_INVALID_CLASS);
  if (_stricmp(query.property, "RemotePath") != 0) return failed(MI_RESULT_INVALID_QUERY);
  uint32_t error = begin(CLASS ".Query", timeout_ms);
  if (error != 0) return mi_failed_with(error);
  if (!read_root(query.value_w, root)) return (struct mi_outcome){.is_list = true};
  return find_mapping(root);
}

struct mi_outcome mi_mapping_get_class(const wchar_t *name_space_w, const wchar_t *class_w,
                                       uint32_t timeout_ms) {
  if (!is_name_space(name_space_w)) return failed(MI_RESULT_INVALID_NAMESPACE);
  if (_wcsicmp(class_w, class_name_w) != 0) return failed(MI_RESULT_NOT_FOUND);
  uint32_t error = begin(CLASS ".GetClass", timeout_ms);
  return error == 0 ? failed(MI_RESULT_OK) : mi_failed_with(error);
}

/* ---- Methods. ---- */

static struct mi_outcome returned(uint32_t value) {
  MI_Instance *instance = mi_instance_new();
  if (mi_instance_add_number(instance, L"ReturnValue", value))
    return (struct mi_outcome){.instance = instance};
  mi_instance_delete(instance);
  return failed(MI_RESULT_FAILED);
}

/* After a change, or its failure; 0 or the error. */
static uint32_t end_change(struct network_state *state, uint32_t error) {
  if (error == 0 && !network_share_folders_place(state)) error = GetLastError();
  if (network_close(state)) return error;
  return error == 0 ? GetLastError() : error;
}

static uint32_t map(const char *root, const struct network_credentials *credentials, bool require_privacy) {
  struct network_state *state = network_open();
  if (state == NULL) return GetLastError();
  return end_change(state, network_share_map(state, root, credentials, require_privacy));
}

static uint32_t unmap(const char *root) {
  struct network_state *state = network_open();
  if (state == NULL) return GetLastError();
  return end_change(state, network_share_unmap(state, root));
}

/* False when the text is not of the right form. */
static bool read_credential(const MI_Value *value, char user_out[USER_BYTES],
                            char digest_out[NETWORK_DIGEST_BYTES]) {
  user_out[0] = '\0';
  network_secret_digest("", 0, digest_out);
  if (value == NULL) return true;
  struct mi_credential credential;
  if (!mi_credential_parse(value->string, &credential) || !to_utf8(credential.user_w, user_out, USER_BYTES))
    return false;
  network_secret_digest_utf16(credential.password_w, wcslen(credential.password_w), digest_out);
  return true;
}

/* UNVERIFIED ON WINDOWS: whether a parameter that is none of the method's is an error. */
static struct mi_outcome create(const MI_Instance *parameters, uint32_t timeout_ms) {
  const MI_Value *path = mi_instance_value(parameters, L"RemotePath", MI_STRING);
  const MI_Value *credential = mi_instance_value(parameters, L"Credential", MI_STRING);
  const MI_Value *privacy = mi_instance_value(parameters, L"RequirePrivacy", MI_BOOLEAN);
  const MI_Value *persistent = mi_instance_value(parameters, L"Persistent", MI_BOOLEAN);
  size_t known = (size_t)(path != NULL) + (credential != NULL) + (privacy != NULL) + (persistent != NULL);
  if (path == NULL || known != mi_instance_count(parameters)) return failed(MI_RESULT_INVALID_PARAMETER);

  char root[NETWORK_ROOT_BYTES], user[USER_BYTES], digest[NETWORK_DIGEST_BYTES];
  if (!read_root(path->string, root) || !read_credential(credential, user, digest))
    return mi_failed_with(ERROR_INVALID_PARAMETER);
  uint32_t error = begin(CLASS ".Create", timeout_ms);
  /* TRUE is the default, and nothing here survives a restart. */
  if (error == 0 && (persistent == NULL || persistent->boolean)) error = ERROR_NOT_SUPPORTED;
  const struct network_credentials credentials = {.user = user, .digest = digest};
  if (error == 0) error = map(root, &credentials, privacy != NULL && privacy->boolean);
  return error == 0 ? returned(0) : mi_failed_with(error);
}

/* Errors of the share come back as the method's value. */
static struct mi_outcome remove_mapping(const MI_Instance *instance, const MI_Instance *parameters,
                                        uint32_t timeout_ms) {
  const MI_Value *path = mi_instance_value(instance, L"RemotePath", MI_STRING);
  const MI_Value *force = mi_instance_value(parameters, L"Force", MI_BOOLEAN);
  char root[NETWORK_ROOT_BYTES];
  if (path == NULL || force == NULL || mi_instance_count(parameters) != 1 || !read_root(path->string, root))
    return failed(MI_RESULT_INVALID_PARAMETER);
  uint32_t error = begin(CLASS ".Remove", timeout_ms);
  return error == 0 ? returned(unmap(root)) : mi_failed_with(error);
}

struct mi_outcome mi_mapping_invoke(const wchar_t *name_space_w, const wchar_t *class_w,
                                    const wchar_t *method_w, const MI_Instance *instance,
                                    const MI_Instance *parameters, uint32_t timeout_ms) {
  if (!is_name_space(name_space_w)) return failed(MI_RESULT_INVALID_NAMESPACE);
  if ((class_w == NULL) == (instance == NULL)) return failed(MI_RESULT_INVALID_PARAMETER);
  if (class_w != NULL && _wcsicmp(class_w, class_name_w) != 0) return failed(MI_RESULT_INVALID_CLASS);
  if (parameters == NULL) return failed(MI_RESULT_INVALID_PARAMETER);
  if (_wcsicmp(method_w, L"Create") == 0 && instance == NULL) return create(parameters, timeout_ms);
  if (_wcsicmp(method_w, L"Remove") == 0 && instance != NULL)
    return remove_mapping(instance, parameters, timeout_ms);
  return failed(MI_RESULT_METHOD_NOT_FOUND);
}
