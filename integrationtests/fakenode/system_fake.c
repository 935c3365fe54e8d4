/* SPDX-License-Identifier: Apache-2.0 */
#include "system_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
  NS_PER_MS = 1000000,
  CHECK_POINT_MS = 10,
  FIRST_PROCESS_ID = 10000,
  STOPS_BYTES = 4096,
  OWN_PROCESS = 0x10,
  OBJECT_BYTES = 1024,
  DEPENDENCY_FAILED = 1068,
  DEPENDENCY_MISSING = 1075,
  SMBIOS_BYTES_MAX = 1 << 20,
};

struct service {
  struct csi_fake_service is; /* state: what it was made with */
  char *name, *display_name, *depends;
  uint32_t state;
  uint32_t exit_code;
  uint32_t process_id;
  int64_t pending_since_ns;
};

struct csi_fake_system {
  struct csi_system_host host;
  struct csi_fake_network *network;
  pthread_mutex_t lock; /* guards what follows */
  struct service *services[CSI_FAKE_SERVICES];
  size_t count;
  uint32_t next_process_id;
  bool short_lists;
  uint8_t *smbios;
  size_t smbios_bytes;
  char stops[STOPS_BYTES];
};

static void impossible(const char *what, const char *name) {
  fprintf(stderr, "system_fake: %s %s\n", what, name);
  abort();
}

static void *must(void *memory) {
  if (memory == NULL) impossible("out of", "memory");
  return memory;
}

/* ---- Time. ---- */

static bool is_pending(const struct service *service) {
  return service->state == CSI_SERVICE_START_PENDING || service->state == CSI_SERVICE_STOP_PENDING ||
         service->state == CSI_SERVICE_PAUSE_PENDING || service->state == CSI_SERVICE_CONTINUE_PENDING;
}

static uint32_t pending_ms(const struct service *service) {
  return (uint32_t)((csi_now_ns() - service->pending_since_ns) / NS_PER_MS);
}

/* What was pending has come to its end. */
static void finish(struct service *service) {
  switch (service->state) {
  case CSI_SERVICE_START_PENDING:
    service->state = service->is.fail_start == 0 ? CSI_SERVICE_RUNNING : CSI_SERVICE_STOPPED;
    service->exit_code = service->is.fail_start;
    break;
  case CSI_SERVICE_STOP_PENDING:
    service->state = CSI_SERVICE_STOPPED;
    break;
  case CSI_SERVICE_PAUSE_PENDING:
    service->state = CSI_SERVICE_PAUSED;
    break;
  default:
    service->state = CSI_SERVICE_RUNNING;
    break;
  }
}

static void settle(struct service *service) {
  if (!is_pending(service) || service->is.silent) return;
  bool stops = service->state == CSI_SERVICE_STOP_PENDING;
  if (pending_ms(service) >= (stops ? service->is.stop_delay_ms : service->is.start_delay_ms))
    finish(service);
}

static void begin(struct csi_fake_system *system, struct service *service, uint32_t state) {
  if (service->state == CSI_SERVICE_STOPPED && state != CSI_SERVICE_STOPPED)
    service->process_id = service->is.process_id != 0 ? service->is.process_id : system->next_process_id++;
  service->state = state;
  service->exit_code = 0;
  service->pending_since_ns = csi_now_ns();
}

/* ---- The lock. ---- */

static struct csi_fake_system *enter(struct csi_fake_system *system) {
  pthread_mutex_lock(&system->lock);
  for (size_t i = 0; i < system->count; i++)
    settle(system->services[i]);
  return system;
}

static void leave(struct csi_fake_system **system) {
  pthread_mutex_unlock(&(*system)->lock);
}

/* Holds the lock to the end of the scope; every service is where it has to be at this moment. */
#define VISIT(system) __attribute__((cleanup(leave), unused)) struct csi_fake_system *visited = enter(system)

static struct service *find(struct csi_fake_system *system, const char *name) {
  for (size_t i = 0; i < system->count; i++)
    if (csi_utf8_equal_ignore_case(system->services[i]->name, name)) return system->services[i];
  return NULL;
}

static struct service *get(struct csi_fake_system *system, const char *name) {
  struct service *service = find(system, name);
  if (service == NULL) impossible("there is no service", name);
  return service;
}

/* ---- Dependencies. The lock is held. ---- */

/* True when service names the other one among what it needs. */
static bool needs_directly(const struct service *service, const struct service *other) {
  for (const char *rest = service->depends; *rest != '\0';) {
    size_t length = strcspn(rest, ",");
    if (csi_utf8_compare_ignore_case(rest, length, other->name, strlen(other->name)) == 0) return true;
    rest += length;
    if (*rest == ',') rest++;
  }
  return false;
}

/* Marks what needs service and is not stopped: directly, or at any distance. */
static void mark_dependents(struct csi_fake_system *system, const struct service *service, bool marked[]) {
  for (size_t i = 0; i < system->count; i++) {
    const struct service *each = system->services[i];
    if (marked[i] || each == service || each->state == CSI_SERVICE_STOPPED || !needs_directly(each, service))
      continue;
    marked[i] = true;
    if (!system->short_lists) mark_dependents(system, each, marked);
  }
}

static bool has_active_dependents(struct csi_fake_system *system, const struct service *service) {
  bool marked[CSI_FAKE_SERVICES] = {false};
  mark_dependents(system, service, marked);
  for (size_t i = 0; i < system->count; i++)
    if (marked[i]) return true;
  return false;
}

static uint32_t start_service(struct csi_fake_system *system, struct service *service, unsigned depth);

/* What it needs is started first; 0 or the error. */
static uint32_t start_needed(struct csi_fake_system *system, const struct service *service, unsigned depth) {
  char name[OBJECT_BYTES];
  for (const char *rest = service->depends; *rest != '\0';) {
    size_t length = strcspn(rest, ",");
    snprintf(name, sizeof name, "%.*s", (int)length, rest);
    rest += length;
    if (*rest == ',') rest++;
    struct service *needed = find(system, name);
    if (needed == NULL) return DEPENDENCY_MISSING;
    if (needed->state != CSI_SERVICE_STOPPED) continue;
    if (needed->is.fail_start != 0 || start_service(system, needed, depth + 1) != 0) return DEPENDENCY_FAILED;
  }
  return 0;
}

static uint32_t start_service(struct csi_fake_system *system, struct service *service, unsigned depth) {
  if (service->state != CSI_SERVICE_STOPPED) return CSI_SERVICE_ALREADY_RUNNING;
  if (service->is.start_type == CSI_FAKE_SERVICE_DISABLED) return CSI_SERVICE_DISABLED;
  uint32_t error = depth > CSI_FAKE_SERVICES ? DEPENDENCY_FAILED : start_needed(system, service, depth);
  if (error != 0) return error;
  begin(system, service, CSI_SERVICE_START_PENDING);
  settle(service);
  return 0;
}

static uint32_t stop_service(struct csi_fake_system *system, struct service *service) {
  if (service->state == CSI_SERVICE_STOPPED) return CSI_SERVICE_NOT_ACTIVE;
  if (is_pending(service)) return CSI_SERVICE_CANNOT_ACCEPT_CONTROL;
  if (service->is.refuse_stop) return CSI_SERVICE_INVALID_CONTROL;
  if (has_active_dependents(system, service)) return CSI_SERVICE_DEPENDENTS_RUNNING;
  size_t length = strlen(system->stops);
  snprintf(system->stops + length, sizeof system->stops - length, "%s%s", length > 0 ? "," : "",
           service->name);
  begin(system, service, CSI_SERVICE_STOP_PENDING);
  settle(service);
  return 0;
}

/* ---- The host. ---- */

static uint32_t get_process_id(void *self) {
  (void)self;
  return CSI_FAKE_PROCESS_ID;
}

static bool get_smbios(void *self, struct csi_ctx *ctx, struct csi_bytes *bytes_out) {
  static const char call[] = "GetSystemFirmwareTable";
  struct csi_fake_system *system = self;
  if (!csi_fake_network_step(system->network, ctx, call, CSI_SPACE_WIN32, "firmware")) return false;
  VISIT(system);
  uint8_t *bytes = csi_arena_alloc(ctx->arena, system->smbios_bytes > 0 ? system->smbios_bytes : 1);
  if (bytes == NULL) return csi_fail_out_of_memory(&ctx->status);
  memcpy(bytes, system->smbios, system->smbios_bytes);
  *bytes_out = (struct csi_bytes){.data = bytes, .size_bytes = system->smbios_bytes};
  return true;
}

static bool fail(struct csi_ctx *ctx, uint32_t error, const char *call, const char *name) {
  return csi_fail_system(&ctx->status, CSI_SPACE_WIN32, error, call, "service %.200s", name);
}

/* The service of a step; NULL with the status. The lock is held. */
static struct service *open_service(struct csi_fake_system *system, struct csi_ctx *ctx, const char *name) {
  struct service *service = find(system, name);
  if (service == NULL) fail(ctx, CSI_SERVICE_DOES_NOT_EXIST, "OpenServiceW", name);
  return service;
}

static bool step(struct csi_fake_system *system, struct csi_ctx *ctx, const char *call, const char *name) {
  char object[OBJECT_BYTES];
  snprintf(object, sizeof object, "service %.200s", name);
  return csi_fake_network_step(system->network, ctx, call, CSI_SPACE_WIN32, object);
}

static bool copy(struct csi_ctx *ctx, const char *text, const char **text_out) {
  *text_out = csi_arena_strdup(ctx->arena, text);
  return *text_out != NULL || csi_fail_out_of_memory(&ctx->status);
}

static bool get_config(void *self, struct csi_ctx *ctx, const char *name,
                       struct csi_service_config *config_out) {
  struct csi_fake_system *system = self;
  if (!step(system, ctx, "QueryServiceConfigW", name)) return false;
  VISIT(system);
  const struct service *service = open_service(system, ctx, name);
  if (service == NULL) return false;
  config_out->start_type = service->is.start_type;
  return copy(ctx, service->display_name, &config_out->display_name);
}

static bool get_key_name(void *self, struct csi_ctx *ctx, const char *name, const char **key_name_out) {
  struct csi_fake_system *system = self;
  if (!step(system, ctx, "GetServiceKeyNameW", name)) return false;
  VISIT(system);
  const struct service *service = open_service(system, ctx, name);
  return service != NULL && copy(ctx, service->name, key_name_out);
}

static bool get_status(void *self, struct csi_ctx *ctx, const char *name,
                       struct csi_service_status *status_out) {
  struct csi_fake_system *system = self;
  if (!step(system, ctx, "QueryServiceStatusEx", name)) return false;
  VISIT(system);
  const struct service *service = open_service(system, ctx, name);
  if (service == NULL) return false;
  bool pending = is_pending(service), stopped = service->state == CSI_SERVICE_STOPPED;
  *status_out = (struct csi_service_status){
      .type = service->is.type != 0 ? service->is.type : OWN_PROCESS,
      .state = service->state,
      .controls_accepted = (service->state == CSI_SERVICE_RUNNING || service->state == CSI_SERVICE_PAUSED) &&
                                   !service->is.refuse_stop
                               ? CSI_SERVICE_ACCEPT_STOP
                               : 0,
      .check_point = pending && !service->is.silent ? 1 + pending_ms(service) / CHECK_POINT_MS : 0,
      .wait_hint_ms = pending ? service->is.wait_hint_ms : 0,
      .process_id = stopped ? 0 : service->process_id,
      .win32_exit_code = service->exit_code,
      .specific_exit_code = service->is.specific_exit_code,
  };
  return true;
}

static bool start(void *self, struct csi_ctx *ctx, const char *name) {
  static const char call[] = "StartServiceW";
  struct csi_fake_system *system = self;
  if (!step(system, ctx, call, name)) return false;
  VISIT(system);
  struct service *service = open_service(system, ctx, name);
  uint32_t error = service == NULL ? 0 : start_service(system, service, 0);
  return service != NULL && (error == 0 || fail(ctx, error, call, name));
}

static bool stop(void *self, struct csi_ctx *ctx, const char *name) {
  static const char call[] = "ControlService";
  struct csi_fake_system *system = self;
  if (!step(system, ctx, call, name)) return false;
  VISIT(system);
  struct service *service = open_service(system, ctx, name);
  uint32_t error = service == NULL ? 0 : stop_service(system, service);
  return service != NULL && (error == 0 || fail(ctx, error, call, name));
}

static bool list_active_dependents(void *self, struct csi_ctx *ctx, const char *name, const char ***names_out,
                                   size_t *count_out) {
  struct csi_fake_system *system = self;
  if (!step(system, ctx, "EnumDependentServicesW", name)) return false;
  VISIT(system);
  const struct service *service = open_service(system, ctx, name);
  if (service == NULL) return false;
  bool marked[CSI_FAKE_SERVICES] = {false};
  mark_dependents(system, service, marked);
  const char **names = csi_arena_alloc_array(ctx->arena, CSI_FAKE_SERVICES, sizeof *names);
  if (names == NULL) return csi_fail_out_of_memory(&ctx->status);
  size_t count = 0;
  for (size_t i = 0; i < system->count; i++)
    if (marked[i] && !copy(ctx, system->services[i]->name, &names[count++])) return false;
  *names_out = names;
  *count_out = count;
  return true;
}

/* ---- Scene. ---- */

static void free_service(struct service *service) {
  free(service->name);
  free(service->display_name);
  free(service->depends);
  free(service);
}

static void remove_all(struct csi_fake_system *system) {
  while (system->count > 0)
    free_service(system->services[--system->count]);
}

static void set_smbios(struct csi_fake_system *system, const void *bytes, size_t size_bytes) {
  if (size_bytes > SMBIOS_BYTES_MAX) impossible("too large:", "smbios");
  free(system->smbios);
  system->smbios = must(malloc(size_bytes > 0 ? size_bytes : 1));
  if (size_bytes > 0) memcpy(system->smbios, bytes, size_bytes);
  system->smbios_bytes = size_bytes;
}

static void set_serial(struct csi_fake_system *system, const char *serial) {
  static const uint8_t head[] = {0, 2,  7, 0, 0, 0, 0, 0, /* the table: its length comes later */
                                 1, 27, 1, 0, 1, 2, 3, 4 /* the system information: its fourth string */};
  enum { HEADER_BYTES = 8, FORMATTED_BYTES = 27 };
  static const char strings[] = "VMware, Inc.\0VMware7,1\0None"; /* and a NUL */
  uint8_t table[1024] = {0};
  memcpy(table, head, sizeof head);
  size_t size_bytes = HEADER_BYTES + FORMATTED_BYTES;
  memcpy(table + size_bytes, strings, sizeof strings);
  size_bytes += sizeof strings;
  if (size_bytes + strlen(serial) + 8 > sizeof table) impossible("too long:", serial);
  memcpy(table + size_bytes, serial, strlen(serial) + 1);
  size_bytes += strlen(serial) + 1;
  if (serial[0] != '\0') size_bytes++;
  static const uint8_t end[] = {127, 4, 2, 0, 0, 0};
  memcpy(table + size_bytes, end, sizeof end);
  size_bytes += sizeof end;
  table[4] = (uint8_t)(size_bytes - HEADER_BYTES);
  table[5] = (uint8_t)((size_bytes - HEADER_BYTES) >> 8);
  set_smbios(system, table, size_bytes);
}

static void clear(struct csi_fake_system *system) {
  remove_all(system);
  system->short_lists = false;
  system->stops[0] = '\0';
  set_serial(system, "VMware-42 29 ab 5e 1c d4 30 1f-8e 72 9b 04 6d 55 c3 f0");
}

static void reset(void *fake) {
  struct csi_fake_system *system = fake;
  VISIT(system);
  clear(system);
}

struct csi_fake_system *csi_fake_system_new(struct csi_fake_network *network) {
  struct csi_fake_system *system = must(calloc(1, sizeof *system));
  system->network = network;
  system->next_process_id = FIRST_PROCESS_ID;
  system->host = (struct csi_system_host){
      .self = system,
      .get_process_id = get_process_id,
      .get_smbios = get_smbios,
      .get_config = get_config,
      .get_key_name = get_key_name,
      .get_status = get_status,
      .start = start,
      .stop = stop,
      .list_active_dependents = list_active_dependents,
  };
  pthread_mutex_init(&system->lock, NULL);
  clear(system);
  csi_fake_network_on_reset(network, reset, system);
  return system;
}

void csi_fake_system_free(struct csi_fake_system *system) {
  if (system == NULL) return;
  remove_all(system);
  free(system->smbios);
  pthread_mutex_destroy(&system->lock);
  free(system);
}

const struct csi_system_host *csi_fake_system_host(struct csi_fake_system *system) {
  return &system->host;
}

void csi_fake_system_add(struct csi_fake_system *system, const struct csi_fake_service *is) {
  VISIT(system);
  if (system->count == CSI_FAKE_SERVICES || find(system, is->name) != NULL)
    impossible("no room, or there already:", is->name);
  struct service *service = must(calloc(1, sizeof *service));
  service->is = *is;
  service->name = must(strdup(is->name));
  service->display_name = must(strdup(is->display_name != NULL ? is->display_name : is->name));
  service->depends = must(strdup(is->depends != NULL ? is->depends : ""));
  service->state = CSI_SERVICE_STOPPED;
  begin(system, service, is->state != 0 ? is->state : CSI_SERVICE_STOPPED);
  system->services[system->count++] = service;
}

bool csi_fake_system_remove(struct csi_fake_system *system, const char *name) {
  VISIT(system);
  size_t i = 0;
  while (i < system->count && !csi_utf8_equal_ignore_case(system->services[i]->name, name))
    i++;
  if (i == system->count) return false;
  free_service(system->services[i]);
  system->count--;
  memmove(&system->services[i], &system->services[i + 1], (system->count - i) * sizeof system->services[0]);
  return true;
}

bool csi_fake_system_has(struct csi_fake_system *system, const char *name) {
  return csi_fake_system_state(system, name) != 0;
}

void csi_fake_system_remove_all(struct csi_fake_system *system) {
  VISIT(system);
  remove_all(system);
}

bool csi_fake_system_finish(struct csi_fake_system *system, const char *name) {
  VISIT(system);
  struct service *service = find(system, name);
  if (service == NULL || !is_pending(service)) return false;
  finish(service);
  return true;
}

void csi_fake_system_set_state(struct csi_fake_system *system, const char *name, uint32_t state) {
  VISIT(system);
  begin(system, get(system, name), state);
}

void csi_fake_system_set_start_type(struct csi_fake_system *system, const char *name, uint32_t start_type) {
  VISIT(system);
  get(system, name)->is.start_type = start_type;
}

void csi_fake_system_set_short_lists(struct csi_fake_system *system, bool short_lists) {
  VISIT(system);
  system->short_lists = short_lists;
}

void csi_fake_system_set_smbios(struct csi_fake_system *system, const void *bytes, size_t size_bytes) {
  VISIT(system);
  set_smbios(system, bytes, size_bytes);
}

void csi_fake_system_set_serial(struct csi_fake_system *system, const char *serial) {
  VISIT(system);
  set_serial(system, serial);
}

/* ---- What happened. ---- */

uint32_t csi_fake_system_state(struct csi_fake_system *system, const char *name) {
  VISIT(system);
  const struct service *service = find(system, name);
  return service == NULL ? 0 : service->state;
}

bool csi_fake_system_nth(struct csi_fake_system *system, size_t index, char *name_out, size_t name_bytes,
                         uint32_t *state_out) {
  VISIT(system);
  if (index >= system->count) return false;
  snprintf(name_out, name_bytes, "%s", system->services[index]->name);
  *state_out = system->services[index]->state;
  return true;
}

void csi_fake_system_take_stops(struct csi_fake_system *system, char *text_out, size_t text_bytes) {
  VISIT(system);
  snprintf(text_out, text_bytes, "%s", system->stops);
  system->stops[0] = '\0';
}
