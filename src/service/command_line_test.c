/* SPDX-License-Identifier: Apache-2.0 */
#include "service/command_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* last: needs the above */
#include <cmocka.h>

#ifdef _WIN32
#include <windows.h>

#include <shellapi.h>

#include "base/text.h"
#endif

enum {
  ARENA_BYTES = 1 << 20,
  ROUNDS = 5000,
};

static int set_up(void **state) {
  *state = csi_arena_new(ARENA_BYTES);
  return *state == NULL;
}

static int tear_down(void **state) {
  csi_arena_free(*state);
  return 0;
}

struct sample {
  const char *text;
  const char *arguments[6];
  bool ambiguous;
};

static const struct sample samples[] = {
    {"csi-proxy.exe", {"csi-proxy.exe"}, false},
    {"csi-proxy.exe  \t -v=5 ", {"csi-proxy.exe", "-v=5"}, false},
    {"\"C:\\Program Files\\csi-proxy.exe\" -v 5", {"C:\\Program Files\\csi-proxy.exe", "-v", "5"}, false},
    {"\"C:\\dir\\\" -x", {"C:\\dir\\", "-x"}, false}, /* no backslash of the program is special */
    {"C:\\Program Files\\csi-proxy.exe -v=5", {"C:\\Program Files\\csi-proxy.exe", "-v=5"}, true},
    {"C:\\a.exe b.exe", {"C:\\a.exe", "b.exe"}, false},
    {"C:\\a.EXE.old b c", {"C:\\a.EXE.old", "b", "c"}, false},
    {"C:\\Program Files\\csi-proxy -x=a.exe", {"C:\\Program", "Files\\csi-proxy", "-x=a.exe"}, false},
    {"C:\\bin\\csi-proxy -log_file a.exe", {"C:\\bin\\csi-proxy", "-log_file", "a.exe"}, false},
    {"C:\\a \"b.exe\"", {"C:\\a", "b.exe"}, false},
    {"p a\\b", {"p", "a\\b"}, false},
    {"p \"a b\"c", {"p", "a bc"}, false},
    {"p \"a\\\\\" b", {"p", "a\\", "b"}, false},
    {"p a\\\\\\\"b", {"p", "a\\\"b"}, false},
    {"p \"a\"\"b\"", {"p", "a\"b"}, false},
    {"p \"\" x", {"p", "", "x"}, false},
    {"p \"unfinished x", {"p", "unfinished x"}, false},
    {"\"unfinished x", {"unfinished x"}, false},
    {" x", {"", "x"}, false},
};

static void known_lines_are_split(void **state) {
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    struct csi_command_line line;
    struct csi_status status = {0};
    assert_true(csi_command_line_split(*state, samples[i].text, &line, &status));
    size_t count = 0;
    for (; samples[i].arguments[count] != NULL; count++) {
      assert_true(count < line.argument_count);
      assert_string_equal(line.arguments[count], samples[i].arguments[count]);
    }
    assert_int_equal(line.argument_count, count);
    assert_null(line.arguments[count]);
    assert_int_equal(line.ambiguous, samples[i].ambiguous);
  }
}

static void only_what_needs_quotes_gets_them(void **state) {
  static const struct {
    const char *arguments[3];
    const char *text;
  } cases[] = {
      {{"C:\\csi-proxy.exe", "-windows-service"}, "C:\\csi-proxy.exe -windows-service"},
      {{"C:\\Program Files\\csi-proxy.exe", "-v=5"}, "\"C:\\Program Files\\csi-proxy.exe\" -v=5"},
      {{"C:\\bin\\csi-proxy", "x.exe"}, "\"C:\\bin\\csi-proxy\" x.exe"},
      {{"p", "-log_file=C:\\two words\\x.log"}, "\"p\" \"-log_file=C:\\two words\\x.log\""},
      {{"p", "D:\\two words\\"}, "\"p\" \"D:\\two words\\\\\""},
      {{"p", "D:\\plain\\"}, "\"p\" D:\\plain\\"},
      {{"p", ""}, "\"p\" \"\""},
      {{"p", "a\\\"b"}, "\"p\" \"a\\\\\\\"b\""},
      {{"p", "-pipe-sddl=D:P(A;;GA;;;SY)"}, "\"p\" -pipe-sddl=D:P(A;;GA;;;SY)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *arguments[] = {(char *)cases[i].arguments[0], (char *)cases[i].arguments[1]};
    struct csi_status status = {0};
    char *text = csi_command_line_join(*state, arguments, 2, &status);
    assert_non_null(text);
    assert_string_equal(text, cases[i].text);
  }
}

static void what_is_no_program_is_refused(void **state) {
  char *empty[] = {(char *)"", (char *)"-x"};
  char *quoted[] = {(char *)"C:\\a\"b.exe"};
  struct csi_status status = {0};
  assert_null(csi_command_line_join(*state, empty, 2, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
  csi_status_clear(&status);
  assert_null(csi_command_line_join(*state, quoted, 1, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
}

static void limits_hold(void **state) {
  struct csi_status status = {0};
  struct csi_command_line line;
  assert_false(csi_command_line_split(*state, "", &line, &status));
  char *many = csi_arena_alloc(*state, 2 * CSI_COMMAND_LINE_ARGUMENTS + 2);
  assert_non_null(many);
  for (size_t i = 0; i < CSI_COMMAND_LINE_ARGUMENTS; i++)
    memcpy(many + 2 * i, "x ", 2);
  csi_status_clear(&status);
  assert_true(csi_command_line_split(*state, many, &line, &status));
  assert_int_equal(line.argument_count, CSI_COMMAND_LINE_ARGUMENTS);
  many[2 * CSI_COMMAND_LINE_ARGUMENTS] = 'x';
  assert_false(csi_command_line_split(*state, many, &line, &status));
  char *big = csi_arena_alloc(*state, CSI_COMMAND_LINE_BYTES + 2);
  assert_non_null(big);
  memset(big, '\\', CSI_COMMAND_LINE_BYTES + 1);
  char *arguments[] = {(char *)"p", big};
  csi_status_clear(&status);
  assert_null(csi_command_line_join(*state, arguments, 2, &status));
  assert_int_equal(status.code, CSI_INVALID_ARGUMENT);
}

static char *random_text(struct csi_arena *arena, const char *letters, size_t most) {
  size_t length = (size_t)rand() % (most + 1);
  char *text = csi_arena_alloc(arena, length + 1);
  assert_non_null(text);
  for (size_t i = 0; i < length; i++)
    text[i] = letters[(size_t)rand() % strlen(letters)];
  return text;
}

#ifdef _WIN32
/* The system's own function is the judge. */
static void assert_windows_agrees(struct csi_arena *arena, const char *text,
                                  const struct csi_command_line *line) {
  struct csi_status status = {0};
  const wchar_t *text_w = csi_utf16_from_utf8(arena, text, strlen(text), NULL, &status);
  assert_non_null(text_w);
  int count = 0;
  wchar_t **arguments_w = CommandLineToArgvW(text_w, &count);
  assert_non_null(arguments_w);
  assert_int_equal(count, line->argument_count);
  for (int i = 0; i < count; i++)
    assert_string_equal(csi_utf8_from_utf16(arena, arguments_w[i], wcslen(arguments_w[i])),
                        line->arguments[i]);
  LocalFree(arguments_w);
}
#else
static void assert_windows_agrees(struct csi_arena *arena, const char *text,
                                  const struct csi_command_line *line) {
  (void)arena;
  (void)text;
  (void)line;
}
#endif

static void random_lines_are_split_as_windows_does(void **unused) {
  (void)unused;
  srand(7);
  for (int i = 0; i < ROUNDS; i++) {
    struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
    struct csi_status status = {0};
    struct csi_command_line line;
    char *text = random_text(arena, "ab \t\"\"\\\\", 24);
    /* An empty text is a request for the program's own path there. */
    if (text[0] != '\0') {
      assert_true(csi_command_line_split(arena, text, &line, &status));
      assert_windows_agrees(arena, text, &line);
    }
    csi_arena_free(arena);
  }
}

static void random_arguments_survive(void **unused) {
  (void)unused;
  srand(11);
  for (int i = 0; i < ROUNDS; i++) {
    struct csi_arena *arena = csi_arena_new(ARENA_BYTES);
    struct csi_status status = {0};
    struct csi_command_line line;
    char *arguments[5] = {(char *)"C:\\Program Files\\csi-proxy.exe"};
    for (int a = 1; a < 5; a++)
      arguments[a] = random_text(arena, "a -=:\t\"\"\\\\\n", 12);
    char *text = csi_command_line_join(arena, arguments, 5, &status);
    assert_non_null(text);
    assert_true(csi_command_line_split(arena, text, &line, &status));
    assert_int_equal(line.argument_count, 5);
    for (int a = 0; a < 5; a++)
      assert_string_equal(line.arguments[a], arguments[a]);
    assert_windows_agrees(arena, text, &line);
    csi_arena_free(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(known_lines_are_split, set_up, tear_down),
      cmocka_unit_test_setup_teardown(only_what_needs_quotes_gets_them, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_is_no_program_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(limits_hold, set_up, tear_down),
      cmocka_unit_test(random_lines_are_split_as_windows_does),
      cmocka_unit_test(random_arguments_survive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
