/* SPDX-License-Identifier: Apache-2.0
 *
 * `top`: the calls of the service as they run.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log_os.h"
#include "client/ctl/output.h"
#include "client/ctl/people_verbs.h"
#include "client/ctl/rates.h"
#include "client/ctl/terminal.h"
#include "client/ctl/units.h"
#include "client/ctl/width.h"

#define SCREEN_BEGIN "\x1b[?1049h\x1b[?25l" /* the alternate screen, no cursor */
#define SCREEN_END "\x1b[?25h\x1b[?1049l"
#define SCREEN_HOME "\x1b[H"
#define SCREEN_CLEAR_LINE "\x1b[K"
#define SCREEN_CLEAR_REST "\x1b[J"

enum {
  NS_PER_MS = 1000000,
};

static int64_t interval_ns;
static uint64_t iterations;

const struct csi_flag csi_top_flags[CSI_TOP_FLAGS] = {
    {.name = "interval",
     .type = CSI_FLAG_DURATION,
     .value = &interval_ns,
     .default_text = "1s",
     .usage = "How long to wait between two rounds, 100ms to 1h.",
     .minimum = INT64_C(100) * NS_PER_MS,
     .maximum = INT64_C(3600) * 1000 * NS_PER_MS},
    {.name = "n",
     .type = CSI_FLAG_UINT,
     .value = &iterations,
     .default_text = "0",
     .usage = "End after so many `rounds`; 0 = go on until q or Ctrl-C."},
};

struct top {
  struct csi_ctl *ctl;
  bool on_screen;  /* the alternate screen of a terminal, drawn anew each round */
  bool is_watched; /* keys and signals are ours */
  struct csi_rates rates;
};

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

/* ---- Running calls. ---- */

static enum csi_style write_call(struct csi_ctl_view call, struct csi_arena *arena,
                                 struct csi_text_buffer *cell) {
  csi_text_buffer_print(cell, "%s/%s", csi_ctl_text(call, "service", arena),
                        csi_ctl_text(call, "method", arena));
  return CSI_STYLE_PLAIN;
}

static enum csi_style write_age(struct csi_ctl_view call, struct csi_arena *arena,
                                struct csi_text_buffer *cell) {
  enum { LONG_MS = 30000 };
  (void)arena;
  char unit[CSI_UNIT_BYTES];
  int64_t age_ms = csi_ctl_i64(call, "age_ms");
  csi_text_buffer_put(cell, csi_units_age(unit, age_ms));
  return age_ms >= LONG_MS ? CSI_STYLE_BAD : CSI_STYLE_PLAIN;
}

/* "4711 csi-driver.exe": the directory is left out. */
static enum csi_style write_peer(struct csi_ctl_view call, struct csi_arena *arena,
                                 struct csi_text_buffer *cell) {
  uint64_t process_id = csi_ctl_u64(call, "process_id");
  const char *image = csi_ctl_text(call, "image_path", arena);
  for (const char *at = image; *at != '\0'; at++) {
    if (*at == '\\' || *at == '/') image = at + 1;
  }
  if (process_id != 0) csi_text_buffer_print(cell, "%" PRIu64 " ", process_id);
  csi_text_buffer_put(cell, image);
  return CSI_STYLE_PLAIN;
}

static const struct csi_column call_columns[] = {
    {"ID", CSI_ALIGN_RIGHT, CSI_COLUMN_SHOW, "id", NULL},
    {"CALL", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, write_call},
    {"STATE", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "state", NULL},
    {"AGE", CSI_ALIGN_RIGHT, CSI_COLUMN_CUSTOM, NULL, write_age},
    {"CALLER", CSI_ALIGN_LEFT, CSI_COLUMN_CUSTOM, NULL, write_peer},
    {"OBJECT", CSI_ALIGN_LEFT, CSI_COLUMN_SHOW, "object", NULL},
};
/* The call that asks for the calls. */
static bool is_own_call(struct csi_ctl_view call, struct csi_arena *arena) {
  return csi_ctl_u64(call, "process_id") == csi_log_os_process_id() &&
         strcmp(csi_ctl_text(call, "method", arena), "ListCalls") == 0;
}

static const struct csi_section calls_section = {
    .items = "calls",
    .columns = call_columns,
    .column_count = sizeof call_columns / sizeof call_columns[0],
    .none = "No call is running.",
    .is_left_out = is_own_call,
};

static size_t count_running(struct csi_ctl_view calls, struct csi_arena *arena) {
  size_t running = 0;
  for (size_t i = 0; i < csi_ctl_count(calls, "calls"); i++)
    running += !is_own_call(csi_ctl_item(calls, "calls", i), arena);
  return running;
}

/* ---- Methods. ---- */

static void add_mean(struct csi_table *table, bool known, int64_t duration_us, uint64_t count) {
  char unit[CSI_UNIT_BYTES];
  const char *mean =
      known && count > 0 ? csi_units_duration(unit, (int64_t)((uint64_t)duration_us / count)) : "";
  csi_table_text(table, CSI_STYLE_PLAIN, mean);
}

static void add_method(struct csi_table *table, const struct csi_method_rate *method) {
  char text[CSI_UNIT_BYTES] = "";
  csi_table_text(table, CSI_STYLE_PLAIN, method->name);
  if (method->is_known) snprintf(text, sizeof text, "%.1f", method->started_per_second);
  csi_table_text(table, method->started_per_second > 0 ? CSI_STYLE_STRONG : CSI_STYLE_PLAIN, text);
  add_mean(table, method->is_known, method->duration_since_us, method->ended_since);
  csi_table_number(table, CSI_STYLE_PLAIN, method->started);
  csi_table_number(table, method->failed > 0 ? CSI_STYLE_BAD : CSI_STYLE_PLAIN, method->failed);
  add_mean(table, true, method->duration_us, method->ended);
  csi_table_text(table, CSI_STYLE_PLAIN,
                 method->ended > 0 ? csi_units_duration(text, method->longest_us) : "");
}

/* What asks for the calls would always be the busiest. */
static bool is_polling(const struct csi_method_rate *method) {
  return strcmp(method->name, "v1.Admin/ListCalls") == 0;
}

static void print_methods(const struct csi_rates *rates, struct csi_text_buffer *buffer) {
  static const char *const headings[] = {"METHOD", "CALLS/S", "MEAN NOW", "CALLS",
                                         "FAILED", "MEAN",    "LONGEST"};
  struct csi_table table = {0};
  for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
    csi_table_column(&table, headings[i], i == 0 ? CSI_ALIGN_LEFT : CSI_ALIGN_RIGHT);
  for (size_t i = 0; i < rates->count; i++)
    if (!is_polling(&rates->methods[i])) add_method(&table, &rates->methods[i]);
  if (table.cell_count > 0 || table.out_of_memory)
    csi_table_print(&table, buffer, csi_output_columns());
  else
    csi_text_buffer_put(buffer, "No method has been called.\n");
  csi_table_free(&table);
}

/* ---- One round. ---- */

/* One line, cut to the terminal. */
static void print_heading(struct top *top, size_t running, struct csi_text_buffer *buffer) {
  char unit[CSI_UNIT_BYTES], line[160];
  double per_second = 0;
  for (size_t i = 0; i < top->rates.count; i++)
    if (!is_polling(&top->rates.methods[i])) per_second += top->rates.methods[i].started_per_second;
  snprintf(line, sizeof line, "csi-proxy  %s  %zu running  %.1f calls/s%s",
           csi_units_time(unit, (int64_t)time(NULL) * 1000), running, per_second,
           top->on_screen ? "  (q ends)" : "");
  size_t columns = csi_output_columns(), shown = strlen(line);
  if (columns > 0) shown = csi_text_fit(line, shown, columns, &columns);
  csi_text_buffer_begin(buffer, CSI_STYLE_STRONG);
  csi_text_buffer_add(buffer, line, shown);
  csi_text_buffer_end(buffer, CSI_STYLE_STRONG);
  csi_text_buffer_put(buffer, "\n\n");
}

static void print_round(struct top *top, struct csi_ctl_view calls, struct csi_arena *arena,
                        struct csi_text_buffer *buffer) {
  print_heading(top, count_running(calls, arena), buffer);
  csi_section_print(calls, &calls_section, arena, buffer, csi_output_columns());
  csi_text_buffer_put(buffer, "\n");
  print_methods(&top->rates, buffer);
}

/* The lines that fit on the screen, each with its rest cleared, so that nothing flickers. */
static void fit_on_screen(const struct csi_text_buffer *text, struct csi_text_buffer *screen) {
  struct csi_terminal_size size;
  (void)csi_terminal_size(&size);
  const char *at = text->text;
  csi_text_buffer_put(screen, SCREEN_HOME);
  for (unsigned row = 0; row < size.rows && *at != '\0'; row++) {
    size_t line = strcspn(at, "\n");
    if (row > 0) csi_text_buffer_put(screen, "\n");
    csi_text_buffer_add(screen, at, line);
    csi_text_buffer_put(screen, SCREEN_CLEAR_LINE);
    at += line + (at[line] == '\n');
  }
  csi_text_buffer_put(screen, SCREEN_CLEAR_REST);
}

static int show_tables(struct top *top, const struct csi_ctl_message *response, bool first) {
  struct csi_arena *arena = csi_arena_new(SIZE_MAX);
  struct csi_text_buffer text = {.coloured = csi_output_coloured(top->ctl), .out_of_memory = arena == NULL};
  if (arena != NULL) {
    if (!first && !top->on_screen) csi_text_buffer_put(&text, "\n");
    print_round(top, csi_ctl_view_of(response), arena, &text);
  }
  csi_arena_free(arena);
  if (!top->on_screen || text.out_of_memory) return csi_output_write(top->ctl, &text);
  struct csi_text_buffer screen = {0};
  fit_on_screen(&text, &screen);
  csi_text_buffer_free(&text);
  return csi_output_write(top->ctl, &screen);
}

static int show_document(struct top *top, const struct csi_ctl_message *response) {
  static const char separator[] = "---\n";
  if (top->ctl->format == CSI_CTL_YAML && !csi_terminal_write(separator, strlen(separator)))
    return csi_output_not_written(top->ctl);
  return csi_output_message(top->ctl, response);
}

/* ---- The terminal around the rounds. ---- */

static void enter(struct top *top) {
  top->is_watched = csi_terminal_watch();
  if (top->on_screen) (void)csi_terminal_write(SCREEN_BEGIN, strlen(SCREEN_BEGIN));
}

static void leave(struct top *top) {
  if (top->on_screen) (void)csi_terminal_write(SCREEN_END, strlen(SCREEN_END));
  if (top->is_watched) csi_terminal_unwatch();
}

static enum csi_terminal_event wait_for_event(struct top *top, uint32_t timeout_ms) {
  enum csi_terminal_event event = csi_terminal_wait(timeout_ms);
  if (event == CSI_TERMINAL_STOP) {
    leave(top);
    csi_terminal_stop();
    enter(top);
  }
  return event;
}

/* ---- The call of a round, in a thread of its own: keys count meanwhile. ---- */

struct list_calls {
  struct csi_ctl *ctl;
  struct csi_ctl_message *response;
  struct csi_ctl_error *error;
  bool answered;
};

static void *run_call(void *context) {
  struct list_calls *call = context;
  call->answered = csi_ctl_call(call->ctl, "admin", "v1", "ListCalls", NULL, call->response, call->error);
  csi_terminal_wake();
  return NULL;
}

static bool list_calls(struct top *top, struct csi_ctl_message *response_out, struct csi_ctl_error *error) {
  enum { LONG_MS = 60000 };
  struct list_calls call = {top->ctl, response_out, error, false};
  pthread_t thread;
  if (!top->is_watched || pthread_create(&thread, NULL, run_call, &call) != 0)
    return csi_ctl_call(top->ctl, "admin", "v1", "ListCalls", NULL, response_out, error);
  for (;;) {
    enum csi_terminal_event event = wait_for_event(top, LONG_MS);
    if (event == CSI_TERMINAL_WOKEN) break;
    if (event != CSI_TERMINAL_QUIT) continue;
    leave(top);
    csi_terminal_exit(CSI_CTL_DONE); /* the call cannot be cancelled */
  }
  pthread_join(thread, NULL);
  return call.answered;
}

/* ---- Rounds. ---- */

static bool do_round(struct top *top, bool first, int *result, struct csi_ctl_error *error) {
  struct csi_ctl_message response;
  if (!list_calls(top, &response, error)) {
    *result = (int)error->exit;
    return false;
  }
  csi_rates_take(&top->rates, csi_ctl_view_of(&response), now_us());
  *result =
      top->ctl->format == CSI_CTL_TABLE ? show_tables(top, &response, first) : show_document(top, &response);
  csi_ctl_message_free(&response);
  return *result == CSI_CTL_DONE;
}

/* Rounds until one fails, enough were shown, or somebody ends it. */
static int do_rounds(struct top *top, struct csi_ctl_error *error) {
  int result = CSI_CTL_DONE;
  for (uint64_t done = 0; do_round(top, done == 0, &result, error);) {
    done++;
    if (iterations != 0 && done >= iterations) break;
    if (!top->is_watched) break;
    if (wait_for_event(top, (uint32_t)(interval_ns / NS_PER_MS)) == CSI_TERMINAL_QUIT) break;
  }
  return result;
}

int csi_top_run(struct csi_ctl *ctl, int argc, char **argv) {
  (void)argc, (void)argv;
  static struct top top; /* too large for a stack */
  struct csi_ctl_error error = {0};
  top = (struct top){.ctl = ctl};
  top.on_screen = ctl->format == CSI_CTL_TABLE && csi_terminal_is_capable();
  enter(&top);
  int result = do_rounds(&top, &error);
  leave(&top);
  return error.exit != CSI_CTL_DONE ? csi_ctl_report(ctl, &error) : result;
}
