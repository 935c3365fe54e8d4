/* SPDX-License-Identifier: Apache-2.0
 *
 * What the system group must do, on services that come, refuse, depend on others and go.
 */
#include <stdio.h>
#include <string.h>

#include "network_calls.h"
#include "scene.h"

/* Win32 error numbers; this file also runs where there is no winerror.h. */
enum {
  DEPENDENTS_RUNNING = 1051,
  SERVICE_DISABLED = 1058,
  SERVICE_DOES_NOT_EXIST = 1060,
};

enum {
  CLIENTS = 4,
  SHORT_MS = 700,
  SLOW_MS = 1000, /* longer than what a look takes */
  VERY_SLOW_MS = 4000,
};

#define A "csi-client-a"
#define B "csi-client-b"
#define C "csi-client-c"
#define D "csi-client-d"
#define MISSING "csi-client-missing"
#define PROTECTED "kubelet" /* by default */

/* ---- The scene. ---- */

static void add_service(struct run *run, const char *name, const char *words) {
  scene(run, "service add name=%s %s", name, words);
}

static void check_service(struct run *run, const char *name, enum csi_system_service_status expected) {
  struct service_facts facts;
  check(run, facts_of(run, name, &facts) == CSI_OK, "GetService %s: %s", name, run->error.text);
  check(run, facts.status == expected, "the state of %s is %d, not %d", name, (int)facts.status,
        (int)expected);
}

static void check_runs(struct run *run, const char *name) {
  check_service(run, name, CSI_SYSTEM_SERVICE_STATUS_RUNNING);
}

static void check_stopped(struct run *run, const char *name) {
  check_service(run, name, CSI_SYSTEM_SERVICE_STATUS_STOPPED);
}

static void check_starts(struct run *run, const char *name) {
  check(run, start_service(run, name) == CSI_OK, "StartService %s: %s", name, run->error.text);
}

static void check_stops(struct run *run, const char *name, bool force) {
  check(run, stop_service(run, name, force) == CSI_OK, "StopService %s: %s", name, run->error.text);
}

/* ---- GetBIOSSerialNumber ---- */

/* Tables with nothing but a system information that has this serial number. */
static void set_smbios(struct run *run, const char *serial) {
  char hex[2 * TEXT_BYTES];
  size_t text_bytes = strlen(serial), used = 0;
  size_t table_bytes = 8 + text_bytes + 2 + 6;
  used += (size_t)snprintf(hex, sizeof hex,
                           "00030000%02zx000000"
                           "0108010000000001",
                           table_bytes);
  for (size_t i = 0; i < text_bytes; i++)
    used += (size_t)snprintf(hex + used, sizeof hex - used, "%02x", (unsigned char)serial[i]);
  snprintf(hex + used, sizeof hex - used,
           "0000"
           "7f0402000000");
  scene(run, "smbios set hex=%s", hex);
}

static void tells_a_serial_number(struct run *run) {
  char serial[TEXT_BYTES];
  check_ok(run, "GetBIOSSerialNumber", serial_number(run, serial));
}

static void tells_the_serial_number_as_it_is(struct run *run) {
  static const struct {
    const char *firmware, *expected;
  } numbers[] = {{"VMware-42 29 ab cd ef 01 23 45-67 89 ab cd ef 01 23 45",
                  "VMware-42 29 ab cd ef 01 23 45-67 89 ab cd ef 01 23 45"},
                 {" 1  ", " 1"}, /* Windows does not have the blanks at the end */
                 {"0", "0"},
                 {"", ""}};
  char serial[TEXT_BYTES];
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && !run->failed; i++) {
    set_smbios(run, numbers[i].firmware);
    check_ok(run, "GetBIOSSerialNumber", serial_number(run, serial));
    check(run, strcmp(serial, numbers[i].expected) == 0, "it is \"%s\", not \"%s\"", serial,
          numbers[i].expected);
  }
  scene(run, "smbios set hex=0003000000000000"); /* no tables at all */
  check_ok(run, "GetBIOSSerialNumber", serial_number(run, serial));
  check(run, serial[0] == '\0', "it is \"%s\"", serial);
}

static void says_that_firmware_tables_are_broken(struct run *run) {
  static const char *const tables[] = {"00", "00030000ff0000000108", "00030000030000007f0100"};
  char serial[TEXT_BYTES];
  for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !run->failed; i++) {
    scene(run, "smbios set hex=%s", tables[i]);
    check(run, serial_number(run, serial) != CSI_OK, "%s has the serial number \"%s\"", tables[i], serial);
    check_refusal(run, CSI_UNKNOWN, CSI_DATA_LOSS, 0,
                  "failed to get BIOS element: failed to query BIOS element: ");
  }
}

/* ---- GetService ---- */

static void tells_name_start_type_and_state(struct run *run) {
  static const struct {
    const char *words;
    enum csi_system_start_type start_type;
    enum csi_system_service_status status;
  } services[] = {
      {"start=auto state=running", CSI_SYSTEM_START_TYPE_AUTOMATIC, CSI_SYSTEM_SERVICE_STATUS_RUNNING},
      {"start=manual state=stopped", CSI_SYSTEM_START_TYPE_MANUAL, CSI_SYSTEM_SERVICE_STATUS_STOPPED},
      {"start=disabled state=stopped", CSI_SYSTEM_START_TYPE_DISABLED, CSI_SYSTEM_SERVICE_STATUS_STOPPED},
      {"start=manual state=paused", CSI_SYSTEM_START_TYPE_MANUAL, CSI_SYSTEM_SERVICE_STATUS_PAUSED},
  };
  struct service_facts facts;
  for (size_t i = 0; i < sizeof services / sizeof services[0] && !run->failed; i++) {
    const char *name = path(run, "csi-client-%zu", i);
    add_service(run, name, path(run, "display=Service%%20%zu %s", i, services[i].words));
    check_ok(run, "GetService", facts_of(run, name, &facts));
    const char *display_name = path(run, "Service %zu", i);
    check(run, strcmp(facts.display_name, display_name) == 0, "it is called \"%s\"", facts.display_name);
    check(run, facts.start_type == services[i].start_type, "%s: start type %d", services[i].words,
          (int)facts.start_type);
    check(run, facts.status == services[i].status, "%s: state %d", services[i].words, (int)facts.status);
  }
}

static void is_blind_to_case(struct run *run) {
  struct service_facts facts;
  add_service(run, A, "display=A state=running");
  check_ok(run, "GetService", facts_of(run, "CSI-Client-A", &facts));
  check(run, strcmp(facts.display_name, "A") == 0, "it is called \"%s\"", facts.display_name);
  check_stops(run, "CSI-CLIENT-A", false);
  check_stopped(run, A);
}

/* ---- What all RPCs with a name refuse. ---- */

static void check_refuses_names(struct run *run, enum csi_code (*call)(struct run *run, const char *name)) {
  static const char *const bad[] = {"", "a/b", "a\\b", "a\nb"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    check(run, call(run, bad[i]) != CSI_OK, "success with the name \"%s\"", bad[i]);
    check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "failed to get service ");
  }
  check(run, call(run, text_of_bytes(257)) != CSI_OK, "success with a name of 257 characters");
  check_refusal(run, CSI_UNKNOWN, CSI_INVALID_ARGUMENT, 0, "failed to get service ");
  check(run, call(run, text_of_bytes(1025)) != CSI_OK, "success with a name of 1025 bytes");
  check_says(run, "name is longer than");
  check(run, call(run, "a\xC3(") == CSI_INTERNAL, "a name that is no UTF-8: %s", run->error.text);
  check(run, call(run, MISSING) != CSI_OK, "success with a service that is not there");
  check_refusal(run, CSI_UNKNOWN, CSI_NOT_FOUND, SERVICE_DOES_NOT_EXIST,
                "failed to get service " MISSING ". error: failed to query service " MISSING ": not found");
  check(run, call(run, "Service of a name for people") != CSI_OK, "success with a display name");
}

static enum csi_code get_facts(struct run *run, const char *name) {
  struct service_facts facts;
  return facts_of(run, name, &facts);
}

static enum csi_code stop_by_force(struct run *run, const char *name) {
  return stop_service(run, name, true);
}

#define NAME_RULES(rpc, call)                                                                                \
  static void rpc##_refuses_bad_names(struct run *run) {                                                     \
    add_service(run, A, "display=Service%20of%20a%20name%20for%20people");                                   \
    check_refuses_names(run, call);                                                                          \
  }
NAME_RULES(get, get_facts)
NAME_RULES(start, start_service)
NAME_RULES(stop, stop_by_force)

/* ---- StartService ---- */

static void starts_a_service(struct run *run) {
  add_service(run, A, "start=manual state=stopped");
  check_starts(run, A);
  check_runs(run, A);
  check_starts(run, A);
  check_runs(run, A);
}

static void waits_until_it_runs(struct run *run) {
  add_service(run, A, path(run, "state=stopped start-delay=%d", SLOW_MS));
  check_starts(run, A);
  check_runs(run, A);
}

static void starts_what_it_depends_on(struct run *run) {
  add_service(run, A, "state=stopped");
  add_service(run, B, "state=stopped depends=" A);
  check_starts(run, B);
  check_runs(run, A);
  check_runs(run, B);
}

static void does_not_start_what_is_disabled(struct run *run) {
  add_service(run, A, "start=disabled state=stopped");
  check(run, start_service(run, A) != CSI_OK, "a disabled service was started");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, SERVICE_DISABLED,
                "failed to wait for service " A " state change. error: ");
  check_says(run, "disabled");
  check_stopped(run, A);
}

static void tells_that_it_did_not_start(struct run *run) {
  add_service(run, A, "state=stopped fail-start=5 start-delay=400");
  check(run, start_service(run, A) != CSI_OK, "success, and the service fails");
  check(run, run->error.code == CSI_UNKNOWN, "%s: %s", csi_code_name(run->error.code), run->error.text);
  check_says(run, "failed to wait for service " A " state change. error: ");
  check(run, run->error.number == 5, "error %u: %s", (unsigned)run->error.number, run->error.text);
  check_stopped(run, A);
}

static void does_not_end_a_pause(struct run *run) {
  add_service(run, A, "state=paused");
  check(run, start_service(run, A) != CSI_OK, "a paused service was started");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
                "failed to wait for service " A " state change. error: ");
  check_says(run, "paused");
}

static void a_start_is_given_up_at_the_deadline(struct run *run) {
  add_service(run, A, path(run, "state=stopped start-delay=%d", VERY_SLOW_MS));
  run->timeout_ms = SHORT_MS;
  check(run, start_service(run, A) == CSI_DEADLINE_EXCEEDED, "%s: %s", csi_code_name(run->error.code),
        run->error.text);
  run->timeout_ms = 0;
  check_starts(run, A);
  check_runs(run, A);
}

/* ---- StopService ---- */

static void stops_a_service(struct run *run) {
  add_service(run, A, "state=running");
  check_stops(run, A, false);
  check_stopped(run, A);
  check_stops(run, A, false);
  check_stops(run, A, true);
  check_stopped(run, A);
}

/* Not under Wine: there a service that is started in the moment in which its process ends is lost. */
static void starts_what_it_has_stopped(struct run *run) {
  add_service(run, A, "state=running");
  for (int i = 0; i < 3; i++) {
    check_stops(run, A, i % 2);
    check_stopped(run, A);
    check_starts(run, A);
    check_runs(run, A);
  }
}

static void waits_until_it_has_stopped(struct run *run) {
  add_service(run, A, path(run, "state=running stop-delay=%d", SLOW_MS));
  check_stops(run, A, false);
  check_stopped(run, A);
}

static void stops_a_paused_service(struct run *run) {
  add_service(run, A, "state=paused");
  check_stops(run, A, false);
  check_stopped(run, A);
}

static void stops_a_chain(struct run *run) {
  add_service(run, A, "state=running");
  add_service(run, B, path(run, "state=running depends=%s stop-delay=%d", A, SLOW_MS / 4));
  add_service(run, C, "state=running depends=" B);
  check_stops(run, A, true);
  check_stopped(run, C);
  check_stopped(run, B);
  check_stopped(run, A);
}

static void stops_a_diamond(struct run *run) {
  add_service(run, A, "state=running");
  add_service(run, B, "state=running depends=" A);
  add_service(run, C, "state=paused depends=" A);
  add_service(run, D, "state=running depends=" B "," C);
  check_stops(run, A, true);
  check_stopped(run, D);
  check_stopped(run, C);
  check_stopped(run, B);
  check_stopped(run, A);
}

static void stops_no_dependents_without_force(struct run *run) {
  add_service(run, A, "state=running");
  add_service(run, B, "state=running depends=" A);
  check(run, stop_service(run, A, false) != CSI_OK, "a service was stopped that another needs");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, DEPENDENTS_RUNNING,
                "failed to stop service " A ". error: error stopping service name " A
                ". current state: Running");
  check_says(run, B);
  check_runs(run, A);
  check_runs(run, B);
  check_stops(run, B, false);
  check_stops(run, A, false);
}

static void does_not_stop_what_the_node_needs(struct run *run) {
  add_service(run, PROTECTED, "state=running");
  for (int force = 0; force < 2; force++) {
    check(run, stop_service(run, PROTECTED, force) != CSI_OK, "a protected service was stopped");
    check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0,
                  "failed to stop service " PROTECTED ". error: service " PROTECTED " is protected");
  }
  check_says(run, "-protected-services");
  check(run, stop_service(run, "KubeLet", true) != CSI_OK, "case lifted the protection");
  check_runs(run, PROTECTED);
}

static void does_not_stop_what_the_node_needs_on_the_way(struct run *run) {
  add_service(run, A, "state=running");
  add_service(run, B, "state=running depends=" A);
  add_service(run, PROTECTED, "state=running depends=" A);
  check(run, stop_service(run, A, true) != CSI_OK, "a protected service would have been stopped");
  check_refusal(run, CSI_UNKNOWN, CSI_FAILED_PRECONDITION, 0, "failed to stop service " A ". error: ");
  check_says(run, PROTECTED);
  check_runs(run, PROTECTED);
  check_runs(run, B);
  check_runs(run, A);
}

static void tells_that_it_cannot_be_stopped(struct run *run) {
  add_service(run, A, "state=running refuse-stop");
  check(run, stop_service(run, A, false) != CSI_OK, "success, and the service refuses");
  check(run, run->error.code == CSI_UNKNOWN && run->error.number != 0, "%s, error %u: %s",
        csi_code_name(run->error.code), (unsigned)run->error.number, run->error.text);
  check_says(run, "failed to stop service " A ". error: ");
  check_runs(run, A);
}

static void a_stop_is_given_up_at_the_deadline(struct run *run) {
  add_service(run, A, path(run, "state=running stop-delay=%d", VERY_SLOW_MS));
  run->timeout_ms = SHORT_MS;
  check(run, stop_service(run, A, true) == CSI_DEADLINE_EXCEEDED, "%s: %s", csi_code_name(run->error.code),
        run->error.text);
  run->timeout_ms = 0;
  check_stops(run, A, true);
  check_stopped(run, A);
}

/* ---- Many ---- */

static void start_and_stop(struct run *own, unsigned number) {
  const char *name = path(own, "csi-client-%u", number);
  check_starts(own, name);
  check_runs(own, name);
  check_starts(own, A);
  check_stops(own, name, true);
  check_stopped(own, name);
}

/* Not under Wine: its RPC runtime mixes up the handles of connections that are opened at the same moment. */
static void many_clients_at_once(struct run *run) {
  add_service(run, A, "state=stopped");
  for (unsigned i = 0; i < CLIENTS; i++)
    add_service(run, path(run, "csi-client-%u", i), "state=stopped");
  run_together(run, CLIENTS, start_and_stop);
  check_runs(run, A);
}

static const struct test_case cases[] = {
    GOOD("GetBIOSSerialNumber", NEEDS_NOTHING, tells_a_serial_number),
    GOOD("GetBIOSSerialNumber", NEEDS_FAKE, tells_the_serial_number_as_it_is),
    BAD("GetBIOSSerialNumber", NEEDS_FAKE, says_that_firmware_tables_are_broken),
    GOOD("GetService", NEEDS_NOTHING, tells_name_start_type_and_state),
    GOOD("GetService", NEEDS_NOTHING, is_blind_to_case),
    BAD("GetService", NEEDS_NOTHING, get_refuses_bad_names),
    GOOD("StartService", NEEDS_NOTHING, starts_a_service),
    GOOD("StartService", NEEDS_NOTHING, waits_until_it_runs),
    GOOD("StartService", NEEDS_FAKE, starts_what_it_depends_on),
    GOOD("StartService", NEEDS_FAKE, many_clients_at_once),
    BAD("StartService", NEEDS_NOTHING, start_refuses_bad_names),
    BAD("StartService", NEEDS_NOTHING, does_not_start_what_is_disabled),
    BAD("StartService", NEEDS_NOTHING, tells_that_it_did_not_start),
    BAD("StartService", NEEDS_NOTHING, does_not_end_a_pause),
    BAD("StartService", NEEDS_NOTHING, a_start_is_given_up_at_the_deadline),
    GOOD("StopService", NEEDS_NOTHING, stops_a_service),
    GOOD("StopService", NEEDS_FAKE, starts_what_it_has_stopped),
    GOOD("StopService", NEEDS_NOTHING, waits_until_it_has_stopped),
    GOOD("StopService", NEEDS_NOTHING, stops_a_paused_service),
    GOOD("StopService", NEEDS_WINDOWS, stops_a_chain),
    GOOD("StopService", NEEDS_WINDOWS, stops_a_diamond),
    BAD("StopService", NEEDS_NOTHING, stop_refuses_bad_names),
    BAD("StopService", NEEDS_WINDOWS, stops_no_dependents_without_force),
    BAD("StopService", NEEDS_NOTHING, does_not_stop_what_the_node_needs),
    BAD("StopService", NEEDS_WINDOWS, does_not_stop_what_the_node_needs_on_the_way),
    BAD("StopService", NEEDS_NOTHING, tells_that_it_cannot_be_stopped),
    BAD("StopService", NEEDS_NOTHING, a_stop_is_given_up_at_the_deadline),
};

static const char *const versions[] = {"v1alpha1", NULL};
static const char *const rpcs[] = {"GetBIOSSerialNumber", "GetService", "StartService", "StopService", NULL};
static const char *const other_groups[] = {"filesystem", NULL};

const struct suite system_suite = {
    .group = "system",
    .versions = versions,
    .rpcs = rpcs,
    .cases = cases,
    .case_count = sizeof cases / sizeof cases[0],
    .other_groups = other_groups,
    .prepare = prepare_scene,
    .clean_up = clean_up_scene,
};
