/* SPDX-License-Identifier: Apache-2.0 */
#include "faults.h"

#include <string.h>

static const char counter_kind[] = "counter";
static const char fault_kind[] = "fault";
static const char clearings_kind[] = "clearings";

static const char any_call[] = "any";

/* ---- Calls. ---- */

static void count(struct network_state *state, const char *call) {
  struct network_record *counter = network_find(state, counter_kind, "call", call);
  if (counter == NULL) {
    counter = network_add(state, counter_kind);
    network_set(state, counter, "call", call);
  }
  network_set_number(state, counter, "count", network_get_number(counter, "count", 0) + 1);
}

static bool is_for(const struct network_record *fault, const char *call) {
  return network_has(fault, "call", call) || network_has(fault, "call", any_call);
}

static struct network_fault fault_of(const struct network_record *record) {
  return (struct network_fault){
      .delay_ms = (uint32_t)network_get_number(record, "delay", 0),
      .hangs = network_get_number(record, "hang", 0) != 0,
      .error = (uint32_t)network_get_number(record, "error", 0),
  };
}

struct network_fault network_faults_take(struct network_state *state, const char *call) {
  count(state, call);
  for (struct network_record *record = network_next(state, fault_kind, NULL); record != NULL;
       record = network_next(state, fault_kind, record)) {
    if (!is_for(record, call)) continue;
    uint64_t nth = network_get_number(record, "nth", 1);
    if (nth > 1) {
      network_set_number(state, record, "nth", nth - 1);
      continue;
    }
    struct network_fault fault = fault_of(record);
    uint64_t remaining = network_get_number(record, "count", 0);
    if (remaining > 1) network_set_number(state, record, "count", remaining - 1);
    if (remaining == 1) network_remove(state, record);
    return fault;
  }
  return (struct network_fault){.error = 0};
}

uint64_t network_faults_clearings(const struct network_state *state) {
  const struct network_record *record = network_next(state, clearings_kind, NULL);
  return record == NULL ? 0 : network_get_number(record, "count", 0);
}

/* ---- Commands. ---- */

static bool refuse(const char **problem_out, const char *problem) {
  *problem_out = problem;
  return false;
}

static bool number_of(struct vdisk_words *words, const char *key, uint64_t *number_inout,
                      const char **problem_out) {
  const char *value = vdisk_words_value(words, key);
  if (value == NULL) return !vdisk_words_has(words, key) || refuse(problem_out, "a number is missing");
  return (vdisk_number_parse(value, number_inout) && *number_inout <= UINT32_MAX) ||
         refuse(problem_out, "a number is expected");
}

static bool add_fault(struct network_state *state, struct vdisk_words *words, const char **problem_out) {
  const char *call = vdisk_words_value(words, "call");
  uint64_t nth = 1, remaining = 1, delay_ms = 0, error = 0;
  if (call == NULL) return refuse(problem_out, "no call");
  if (!number_of(words, "nth", &nth, problem_out) || !number_of(words, "count", &remaining, problem_out) ||
      !number_of(words, "delay", &delay_ms, problem_out) || !number_of(words, "error", &error, problem_out))
    return false;
  bool hangs = vdisk_words_flag(words, "hang");
  if (nth == 0) return refuse(problem_out, "nth begins with 1");
  if (!hangs && delay_ms == 0 && error == 0)
    return refuse(problem_out, "no action: error=CODE, delay=MS or hang");
  if (vdisk_words_unused(words) != NULL) return refuse(problem_out, "an unknown word");
  struct network_record *record = network_add(state, fault_kind);
  network_set(state, record, "call", call);
  network_set_number(state, record, "nth", nth);
  network_set_number(state, record, "count", remaining);
  network_set_number(state, record, "delay", delay_ms);
  network_set_number(state, record, "hang", hangs);
  network_set_number(state, record, "error", error);
  return true;
}

/* Removes records of a kind, or all; whoever hangs goes on. */
static void clear(struct network_state *state, const char *kind) {
  uint64_t clearings = network_faults_clearings(state);
  network_remove_all(state, kind);
  network_set_number(state, network_settings(state, clearings_kind), "count", clearings + 1);
}

static void list_counters(const struct network_state *state, struct vdisk_text *reply) {
  for (const struct network_record *counter = network_next(state, counter_kind, NULL); counter != NULL;
       counter = network_next(state, counter_kind, counter)) {
    vdisk_text_add(reply, "call=");
    vdisk_text_add(reply, network_get(counter, "call"));
    vdisk_text_add_number_word(reply, "count", network_get_number(counter, "count", 0));
    vdisk_text_add(reply, "\n");
  }
}

bool network_command(struct network_state *state, struct vdisk_words *words, struct vdisk_text *reply,
                     const char **problem_out) {
  const char *verb = vdisk_words_take(words);
  bool is_fault = strcmp(verb, "fault") == 0;
  if (is_fault) verb = vdisk_words_take(words);
  if (is_fault && strcmp(verb, "add") == 0) return add_fault(state, words, problem_out);
  if (vdisk_words_unused(words) != NULL) return refuse(problem_out, "an unknown word");
  if (is_fault && strcmp(verb, "clear") == 0)
    clear(state, fault_kind);
  else if (!is_fault && strcmp(verb, "counters") == 0)
    list_counters(state, reply);
  else if (!is_fault && strcmp(verb, "reset") == 0)
    clear(state, NULL);
  else
    return refuse(problem_out, "network has fault add, fault clear, counters and reset");
  return true;
}
