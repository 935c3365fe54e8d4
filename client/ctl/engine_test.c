/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/ctl/arguments.h"
#include "client/ctl/completion.h"
#include "client/ctl/connection.h"
#include "client/ctl/descriptors.h"
#include "client/ctl/dynamic.h"
#include "client/ctl/json_expected.h"
#include "client/ctl/program.h"
#include "client/ctl/proto_text.h"
#include "client/ctl/rpc.h"
#include "client/ctl/suggest.h"

/* --- suggestions */

static void the_distance_counts_letters(void **state) {
  (void)state;
  assert_int_equal(csi_suggest_distance("disk", "disk"), 0);
  assert_int_equal(csi_suggest_distance("DISK", "disk"), 0);
  assert_int_equal(csi_suggest_distance("dsik", "disk"), 1);
  assert_int_equal(csi_suggest_distance("dis", "disk"), 1);
  assert_int_equal(csi_suggest_distance("", "disk"), 4);
  assert_int_equal(csi_suggest_distance("volume", "disk"), 6);
  char longest[CSI_SUGGEST_NAME_BYTES + 1];
  memset(longest, 'a', sizeof longest);
  longest[CSI_SUGGEST_NAME_BYTES] = '\0';
  assert_int_equal(csi_suggest_distance(longest, "a"), UINT_MAX);
  longest[CSI_SUGGEST_NAME_BYTES - 1] = '\0';
  assert_int_equal(csi_suggest_distance(longest, "a"), CSI_SUGGEST_NAME_BYTES - 2);
}

static const char *suggest(const char *typed, const char *const *names) {
  struct csi_suggestion suggestion = {.typed = typed};
  for (; *names != NULL; names++)
    csi_suggest_offer(&suggestion, *names);
  return suggestion.best;
}

static void the_nearest_name_is_suggested(void **state) {
  (void)state;
  static const char *const names[] = {"disks", "volumes", "ListDiskIDs", "ListDiskLocations", NULL};
  assert_string_equal(suggest("disk", names), "disks");
  assert_string_equal(suggest("listdiskid", names), "ListDiskIDs");
  assert_string_equal(suggest("volmes", names), "volumes");
  assert_string_equal(suggest("vo", names), "volumes");
  assert_null(suggest("x", names));
  assert_null(suggest("format", names));
}

/* --- command lines */

static const char *const words_before = "-o json disks -timeout=5s - -x 1 -- -y";

static void flags_may_stand_anywhere(void **state) {
  (void)state;
  const struct csi_flag_table table = csi_ctl_global_flags();
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  assert_non_null(arena);
  char *text = csi_arena_strdup(arena, words_before), *argv[16] = {(char *)"csi-proxyctl"};
  int argc = 1, count, first;
  for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
    argv[argc++] = word;
  char **sorted = csi_arguments_sort(arena, &table, 1, argc, argv, &count, &first);
  static const char *const wanted[] = {"csi-proxyctl", "-o",    "json", "-timeout=5s", "-x",
                                       "--",           "disks", "-",    "1",           "-y"};
  assert_int_equal(count, 10);
  assert_int_equal(first, 6);
  for (int i = 0; i < count; i++)
    assert_string_equal(sorted[i], wanted[i]);
  assert_null(sorted[count]);
  csi_arena_free(arena);
}

static void a_flag_without_its_value_is_told(void **state) {
  (void)state;
  const struct csi_flag_table table = csi_ctl_global_flags();
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  char *argv[] = {(char *)"x", (char *)"disks", (char *)"-timeout"};
  int count, first;
  char **sorted = csi_arguments_sort(arena, &table, 1, 3, argv, &count, &first);
  assert_int_equal(count, 2);
  assert_string_equal(sorted[1], "-timeout");
  csi_arena_free(arena);
}

#define RUN(...)                                                                                             \
  csi_ctl_run(sizeof((const char *[]){"x", __VA_ARGS__}) / sizeof(char *),                                   \
              (char *[]){(char *)"x", __VA_ARGS__, NULL})

/* No service listens on such pipes. */
#define NOWHERE (char *)"-pipe-prefix=/nonexistent/csi-proxyctl-test-"

static void exit_codes_tell_what_happened(void **state) {
  (void)state;
  assert_int_equal(RUN((char *)"version"), CSI_CTL_DONE);
  assert_int_equal(RUN((char *)"help"), CSI_CTL_DONE);
  assert_int_equal(RUN((char *)"help", (char *)"call"), CSI_CTL_DONE);
  assert_int_equal(RUN((char *)"-h"), CSI_CTL_DONE);
  assert_int_equal(RUN((char *)"call", (char *)"-help"), CSI_CTL_DONE);
  assert_int_equal(RUN((char *)"describe", (char *)"disk"), CSI_CTL_DONE);
  assert_int_equal(RUN(NOWHERE, (char *)"list"), CSI_CTL_DONE);
  assert_int_equal(csi_ctl_run(1, (char *[]){(char *)"x", NULL}), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"help", (char *)"nothing"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"lits"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"list", (char *)"more"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"list", (char *)"-no-such-flag"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"list", (char *)"-o", (char *)"xml"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"list", (char *)"-timeout=-1s"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"call", (char *)"disk", (char *)"v1"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"call", (char *)"disc", (char *)"v1", (char *)"ListDiskIDs"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"call", (char *)"disk", (char *)"v9", (char *)"ListDiskIDs"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"call", (char *)"disk", (char *)"v1", (char *)"ListDisk"), CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"call", (char *)"disk", (char *)"v1", (char *)"ListDiskIDs", (char *)"{"),
                   CSI_CTL_USAGE);
  assert_int_equal(
      RUN((char *)"call", (char *)"disk", (char *)"v1", (char *)"ListDiskIDs", (char *)"@/no/such/file"),
      CSI_CTL_USAGE);
  assert_int_equal(RUN((char *)"completion", (char *)"bash"), CSI_CTL_USAGE);
  assert_int_equal(RUN(NOWHERE, (char *)"call", (char *)"disk", (char *)"v1", (char *)"ListDiskIDs"),
                   CSI_CTL_UNREACHABLE);
}

/* --- JSON; what is meant alike by others is tested in integrationtests/proxyctl/rpcs_test.py */

static const upb_MessageDef *request_of(struct csi_ctl *ctl, const char *group, const char *rpc) {
  const upb_MethodDef *method;
  struct csi_ctl_error error;
  assert_true(csi_ctl_find_rpc(ctl, group, "v1", rpc, &method, &error));
  return upb_MethodDef_InputType(method);
}

static void wrong_json_is_told_with_its_place(void **state) {
  (void)state;
  static const char quotes[] =
      "a name stands in quotes; the shell may have changed them: give the request by - or \"@FILE\", see "
      "\"csi-proxyctl help call\"";
  static const struct {
    const char *json, *text, *hint;
  } rows[] = {
      {"", "JSON, line 1, column 1: no value", ""},
      {"{}]", "JSON, line 1, column 3: something behind the value", ""},
      {"[]", "JSON, line 1, column 1: a message is a JSON object: {...}", ""},
      {"{} {}", "JSON, line 1, column 4: something behind the value", ""},
      {"{\n \"disk_numbr\": 1}", "JSON, line 2, column 2: v1.GetDiskStatsRequest has no field \"disk_numbr\"",
       "did you mean disk_number?"},
      {"{\"disk_number\": 1, \"diskNumber\": 1}", "JSON, line 1, column 20: this name stands here twice", ""},
      {"{\"disk_number\": 1, \"disk\\u005fnumber\": 1}",
       "JSON, line 1, column 20: this name stands here twice", ""},
      {"{\"disk_number\": 1,}", "JSON, line 1, column 19: no value", ""},
      {"{\"disk_number\" 1}", "JSON, line 1, column 16: no colon", ""},
      {"{\"disk_number\": \"\"}", "JSON, line 1, column 17: an empty text is no number", ""},
      {"{\"disk_number\": 01}", "JSON, line 1, column 17: no value", ""},
      {"{\"disk_number\":  4294967296}", "JSON, line 1, column 18: out of range for disk_number", ""},
      {"{\"disk_number\": -1}", "JSON, line 1, column 17: out of range for disk_number", ""},
      {"{\n\"disk_number\": \"99999999999999999999\"}",
       "JSON, line 2, column 16: out of range for disk_number", ""},
      {"{disk_number: 1}", "JSON, line 1, column 2: no value", quotes},
      {"{\\\"disk_number\\\": 1}", "JSON, line 1, column 2: no value", quotes},
      {"{\"\xc3\xa9\xff\": 1}", "JSON, line 1, column 4: a character that strings cannot have", ""},
      {"{\"\\ud800\": 1}", "JSON, line 1, column 3: half a character", ""},
  };
  struct csi_ctl ctl = {0};
  const upb_MessageDef *request = request_of(&ctl, "disk", "GetDiskStats");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct csi_ctl_message message;
    struct csi_ctl_error error = {0};
    assert_false(csi_ctl_from_json(rows[i].json, strlen(rows[i].json), request, &message, &error));
    assert_string_equal(error.failure.text, rows[i].text);
    assert_string_equal(error.hint, rows[i].hint);
    assert_int_equal(error.exit, CSI_CTL_USAGE);
  }
  csi_ctl_free_pools(&ctl);
}

static void ranges_of_integers_are_exact(void **state) {
  (void)state;
  struct csi_ctl ctl = {0};
  const upb_MethodDef *method;
  struct csi_ctl_error error;
  assert_true(csi_ctl_find_rpc(&ctl, "admin", "v1", "GetStatus", &method, &error));
  const upb_MessageDef *status = upb_MethodDef_OutputType(method);
  static const struct {
    const char *field, *most, *more, *least, *less;
  } rows[] = {
      {"process_id", "4294967295", "4294967296", "-0", "-1"},
      {"calls_running", "18446744073709551615", "18446744073709551616", "-0", "-1"},
      {"cpu_ms", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
       "-9223372036854775809"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const upb_FieldDef *field = upb_MessageDef_FindFieldByName(status, rows[i].field);
    assert_true(csi_json_is_in_range(field, rows[i].most, strlen(rows[i].most)));
    assert_false(csi_json_is_in_range(field, rows[i].more, strlen(rows[i].more)));
    assert_true(csi_json_is_in_range(field, rows[i].least, strlen(rows[i].least)));
    assert_false(csi_json_is_in_range(field, rows[i].less, strlen(rows[i].less)));
  }
  csi_ctl_free_pools(&ctl);
}

static void json_has_bounds(void **state) {
  (void)state;
  struct csi_ctl ctl = {0};
  struct csi_ctl_message message;
  struct csi_ctl_error error;
  const upb_MessageDef *request = request_of(&ctl, "disk", "GetDiskStats");
  char deep[2 * CSI_CTL_JSON_DEPTH + 32] = "{\"disk_number\":";
  memset(deep + strlen(deep), '[', CSI_CTL_JSON_DEPTH + 1);
  assert_false(csi_ctl_from_json(deep, strlen(deep), request, &message, &error));
  assert_non_null(strstr(error.failure.text, "too deep"));

  size_t length = CSI_CTL_JSON_BYTES + 1;
  char *blanks = malloc(length);
  memset(blanks, ' ', length);
  blanks[0] = '{';
  blanks[1] = '}';
  assert_false(csi_ctl_from_json(blanks, length, request, &message, &error));
  assert_true(csi_ctl_from_json(blanks, length - 1, request, &message, &error));
  csi_ctl_message_free(&message);
  free(blanks);
  csi_ctl_free_pools(&ctl);
}

static void a_nul_does_not_end_a_name(void **state) {
  (void)state;
  struct csi_ctl ctl = {0};
  const upb_MethodDef *method;
  struct csi_ctl_error error;
  struct csi_ctl_message message;
  assert_true(csi_ctl_find_rpc(&ctl, "disk", "v1alpha1", "ListDiskLocations", &method, &error));
  static const char json[] = "{\"disk_locations\":{\"\":{},\"\\u0000\":{},\"\\u0000a\":{}}}";
  assert_true(csi_ctl_from_json(json, strlen(json), upb_MethodDef_OutputType(method), &message, &error));
  csi_ctl_message_free(&message);
  csi_ctl_free_pools(&ctl);
}

static void maps_are_in_the_order_of_their_keys(void **state) {
  (void)state;
  struct csi_ctl ctl = {.arena = csi_arena_new(SIZE_MAX)};
  struct csi_text_buffer wanted = {0}, given = {0};
  const upb_MethodDef *method;
  struct csi_ctl_error error;
  struct csi_ctl_message message;
  char *json;
  size_t length;
  assert_true(csi_ctl_find_rpc(&ctl, "disk", "v1", "ListDiskIDs", &method, &error));
  for (unsigned i = 0; i < 120; i++) {
    static const char entry[] = "%s\"%u\":{\"page83\":\"}\\\"%u\",\"serial_number\":\"\"}";
    csi_text_buffer_print(&wanted, entry, i > 0 ? "," : "{\"diskIDs\":{", i, i);
    csi_text_buffer_print(&given, entry, i > 0 ? "," : "{\"diskIDs\":{", 119 - i, 119 - i);
  }
  csi_text_buffer_put(&wanted, "}}");
  csi_text_buffer_put(&given, "}}");
  assert_true(
      csi_ctl_from_json(given.text, given.length_bytes, upb_MethodDef_OutputType(method), &message, &error));
  assert_true(csi_ctl_to_json(&message, ctl.arena, &json, &length));
  assert_string_equal(json, wanted.text);
  csi_text_buffer_free(&wanted);
  csi_text_buffer_free(&given);
  csi_ctl_message_free(&message);
  csi_ctl_free_pools(&ctl);
  csi_arena_free(ctl.arena);
}

/* --- messages */

static void fields_are_read_and_set_by_name(void **state) {
  (void)state;
  struct csi_ctl ctl = {.arena = csi_arena_new(SIZE_MAX)};
  const upb_MethodDef *method;
  struct csi_ctl_error error;
  struct csi_ctl_message message;
  assert_true(csi_ctl_find_rpc(&ctl, "admin", "v1", "GetStatus", &method, &error));
  static const char json[] =
      "{\"version\":\"v\",\"cpu_ms\":\"-5\",\"ready\":true,\"flags\":[\"a\",\"b\"],\"groups\":[{\"group\":"
      "\"disk\",\"parts\":[{\"state\":\"PART_STATE_MISSING\"},{\"state\":77}]}]}";
  assert_true(csi_ctl_from_json(json, strlen(json), upb_MethodDef_OutputType(method), &message, &error));
  struct csi_ctl_view view = csi_ctl_view_of(&message);
  assert_string_equal(csi_ctl_text(view, "version", ctl.arena), "v");
  assert_true(csi_ctl_i64(view, "cpu_ms") == -5);
  assert_true(csi_ctl_bool(view, "ready"));
  assert_int_equal(csi_ctl_count(view, "flags"), 2);
  assert_string_equal(csi_ctl_text_item(view, "flags", 1, ctl.arena), "b");
  struct csi_ctl_view group = csi_ctl_item(view, "groups", 0);
  assert_string_equal(csi_ctl_show(group, "group", ctl.arena), "disk");
  assert_string_equal(csi_ctl_show(csi_ctl_item(group, "parts", 0), "state", ctl.arena),
                      "PART_STATE_MISSING");
  assert_string_equal(csi_ctl_show(csi_ctl_item(group, "parts", 1), "state", ctl.arena), "77");
  assert_true(csi_ctl_set_u64(&message, "threads", 9));
  assert_string_equal(csi_ctl_show(view, "threads", ctl.arena), "9");
  assert_string_equal(csi_ctl_show(view, "ready", ctl.arena), "true");
  csi_ctl_message_free(&message);
  csi_ctl_free_pools(&ctl);
  csi_arena_free(ctl.arena);
}

static void a_field_below_one_that_is_not_set_has_its_default(void **state) {
  (void)state;
  struct csi_ctl ctl = {.arena = csi_arena_new(SIZE_MAX)};
  const upb_MethodDef *method;
  struct csi_ctl_error error;
  struct csi_ctl_message message;
  assert_true(csi_ctl_find_rpc(&ctl, "admin", "v1", "ExplainDisk", &method, &error));
  assert_true(csi_ctl_message_new(&message, upb_MethodDef_OutputType(method), &error));
  struct csi_ctl_view view = csi_ctl_view_of(&message);
  assert_true(csi_ctl_u64(view, "disk.size_bytes") == 0);
  assert_string_equal(csi_ctl_text(view, "disk.vendor", ctl.arena), "");
  assert_int_equal(csi_ctl_count(csi_ctl_message_at(view, "disk"), "partitions"), 0);
  csi_ctl_message_free(&message);
  csi_ctl_free_pools(&ctl);
  csi_arena_free(ctl.arena);
}

static void requests_with_secrets_are_known(void **state) {
  (void)state;
  struct csi_ctl ctl = {0};
  const struct csi_ctl_group *group;
  struct csi_ctl_error error;
  assert_true(csi_ctl_find_group(&ctl, "smb", &group, &error));
  assert_true(csi_ctl_has_secret(group, request_of(&ctl, "smb", "NewSmbGlobalMapping")));
  assert_false(csi_ctl_has_secret(group, request_of(&ctl, "smb", "RemoveSmbGlobalMapping")));
  csi_ctl_free_pools(&ctl);
}

/* --- text */

static void quotes_are_doubled_for_powershell(void **state) {
  (void)state;
  struct csi_text_buffer out = {0};
  csi_powershell_quote(&out, "it's $HOME `x` \"y\"");
  assert_string_equal(out.text, "'it''s $HOME `x` \"y\"'");
  csi_text_buffer_free(&out);
}

static void completion_has_every_verb_and_rpc(void **state) {
  (void)state;
  struct csi_ctl ctl = {0};
  struct csi_ctl_error error;
  struct csi_text_buffer out = {0};
  char wanted[128];
  assert_true(csi_completion_powershell(&ctl, &out, &error));
  for (const struct csi_ctl_verb_table *table = csi_ctl_verb_tables; table->count > 0; table++)
    for (size_t i = 0; i < table->count; i++) {
      snprintf(wanted, sizeof wanted, "        '%s' = '", table->verbs[i].name);
      assert_non_null(strstr(out.text, wanted));
    }
  unsigned rpcs = 0;
  for (const char *const *name = csi_ctl_group_names(); *name != NULL; name++) {
    const struct csi_ctl_group *group;
    assert_true(csi_ctl_find_group(&ctl, *name, &group, &error));
    for (size_t i = 0; i < group->service_count; i++)
      for (int k = 0; k < upb_ServiceDef_MethodCount(group->services[i]); k++, rpcs++) {
        snprintf(wanted, sizeof wanted, "'%s'",
                 upb_MethodDef_Name(upb_ServiceDef_Method(group->services[i], k)));
        assert_non_null(strstr(out.text, wanted));
      }
  }
  assert_true(rpcs > 139);
  /* Brackets and quotes come in pairs: no literal of ours holds one. */
  int braces = 0, brackets = 0, quotes = 0;
  for (const char *at = out.text; *at != '\0'; at++) {
    braces += (*at == '{') - (*at == '}');
    brackets += (*at == '(') - (*at == ')');
    quotes += *at == '\'';
  }
  assert_int_equal(braces, 0);
  assert_int_equal(brackets, 0);
  assert_int_equal(quotes % 2, 0);
  csi_text_buffer_free(&out);
  csi_ctl_free_pools(&ctl);
}

static void descriptors_are_shown_as_protos(void **state) {
  (void)state;
  struct csi_ctl ctl = {0};
  const struct csi_ctl_group *group;
  const upb_ServiceDef *service;
  struct csi_ctl_error error;
  struct csi_text_buffer out = {0};
  assert_true(csi_ctl_find_group(&ctl, "disk", &group, &error) &&
              csi_ctl_find_version(group, "v1", &service, &error));
  struct csi_proto_text text = {.out = &out, .group = group, .file = upb_ServiceDef_File(service)};
  csi_proto_method(&text, upb_ServiceDef_FindMethodByName(service, "ListDiskIDs"));
  assert_non_null(strstr(out.text, "rpc ListDiskIDs(ListDiskIDsRequest) returns (ListDiskIDsResponse);"));
  assert_non_null(strstr(out.text, "message ListDiskIDsRequest {}"));
  assert_non_null(strstr(out.text, "map<uint32, DiskIDs> "));
  assert_non_null(strstr(out.text, "message DiskIDs {\n"));
  assert_non_null(strstr(out.text, "//"));
  csi_text_buffer_free(&out);
  csi_ctl_free_pools(&ctl);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_distance_counts_letters),
      cmocka_unit_test(the_nearest_name_is_suggested),
      cmocka_unit_test(flags_may_stand_anywhere),
      cmocka_unit_test(a_flag_without_its_value_is_told),
      cmocka_unit_test(exit_codes_tell_what_happened),
      cmocka_unit_test(wrong_json_is_told_with_its_place),
      cmocka_unit_test(ranges_of_integers_are_exact),
      cmocka_unit_test(json_has_bounds),
      cmocka_unit_test(a_nul_does_not_end_a_name),
      cmocka_unit_test(maps_are_in_the_order_of_their_keys),
      cmocka_unit_test(fields_are_read_and_set_by_name),
      cmocka_unit_test(a_field_below_one_that_is_not_set_has_its_default),
      cmocka_unit_test(requests_with_secrets_are_known),
      cmocka_unit_test(quotes_are_doubled_for_powershell),
      cmocka_unit_test(completion_has_every_verb_and_rpc),
      cmocka_unit_test(descriptors_are_shown_as_protos),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
