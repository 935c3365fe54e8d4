/* SPDX-License-Identifier: Apache-2.0
 *
 * What the service as a whole must stand: many clients, large messages, clients that lose patience or die.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <process.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "harness.h"

enum {
  CALLS_PER_THREAD = 20,
  SHARING_THREADS = 32,
  SETTLE_MS = 500,
};

static bool connect_to(struct run *run, const char *const *versions) {
  enum csi_code code = csi_client_connect("filesystem", versions, &run->options, &run->client, &run->error);
  return check(run, code == CSI_OK, "cannot connect: %s", run->error.text);
}

static const char *const any_version[] = {"v1", NULL};

/* ---- Connecting ---- */

static void the_best_version_is_v1(struct run *run) {
  if (!connect_to(run, NULL)) return;
  check(run, strcmp(csi_client_version(run->client), "v1") == 0, "got %s", csi_client_version(run->client));
  csi_client_close(run->client);
}

static void the_order_is_the_callers(struct run *run) {
  if (!connect_to(run, (const char *const[]){"v1alpha1", "v1", NULL})) return;
  check(run, strcmp(csi_client_version(run->client), "v1alpha1") == 0, "got %s",
        csi_client_version(run->client));
  csi_client_close(run->client);
}

static void a_missing_pipe_is_not_found_at_once(struct run *run) {
  const char *format = run->options.endpoint_format;
#if defined(_WIN32)
  run->options.endpoint_format = "\\\\.\\pipe\\csi-proxy-nobody-%s-%s";
#else
  run->options.endpoint_format = "/nonexistent/csi-proxy-%s-%s.sock";
#endif
  int64_t started_ms = now_ms();
  enum csi_code code = csi_client_connect("filesystem", NULL, &run->options, &run->client, &run->error);
  check(run, code == CSI_NOT_FOUND, "%s: %s", csi_code_name(code), run->error.text);
  check(run, now_ms() - started_ms < 1000, "it took %lld ms", (long long)(now_ms() - started_ms));
  run->options.endpoint_format = format;
}

/* ---- Many ---- */

struct crowd {
  struct run *run;
  struct csi_client *shared; /* NULL: every thread has its own */
  pthread_barrier_t all_connected;
  atomic_uint failures;
  pthread_mutex_t mutex;
  struct csi_error first_error;
};

static void note_failure(struct crowd *crowd, const struct csi_error *error) {
  pthread_mutex_lock(&crowd->mutex);
  if (atomic_fetch_add(&crowd->failures, 1) == 0) crowd->first_error = *error;
  pthread_mutex_unlock(&crowd->mutex);
}

static void *call_with_the_others(void *context) {
  struct crowd *crowd = context;
  struct csi_client *client = crowd->shared;
  struct csi_error error = {0};
  struct csi_client_options options = crowd->run->options;
  options.connect_timeout_ms = 30000;
  if (client == NULL && csi_client_connect("filesystem", any_version, &options, &client, &error) != CSI_OK) {
    note_failure(crowd, &error);
  }
  pthread_barrier_wait(&crowd->all_connected);
  for (int i = 0; client != NULL && i < CALLS_PER_THREAD; i++) {
    struct csi_filesystem_path_exists_request request = {.path = crowd->run->settings->working_directory};
    struct csi_filesystem_path_exists_response *response;
    if (csi_filesystem_path_exists(client, &request, NULL, &response, &error) != CSI_OK) {
      note_failure(crowd, &error);
    }
    csi_response_free(response);
  }
  /* Nobody leaves before all have called: the connections stand at the same time. */
  pthread_barrier_wait(&crowd->all_connected);
  if (crowd->shared == NULL) csi_client_close(client);
  return NULL;
}

static void call_together(struct run *run, unsigned thread_count, struct csi_client *shared) {
  struct crowd crowd = {.run = run, .shared = shared};
  pthread_t *threads = calloc(thread_count, sizeof *threads);
  if (!check(run, threads != NULL, "out of memory")) return;
  pthread_mutex_init(&crowd.mutex, NULL);
  pthread_barrier_init(&crowd.all_connected, NULL, thread_count);
  for (unsigned i = 0; i < thread_count; i++) {
    if (pthread_create(&threads[i], NULL, call_with_the_others, &crowd) != 0) {
      fprintf(stderr, "cannot make thread %u\n", i); /* the others wait for it: nothing can be saved */
      exit(1);
    }
  }
  for (unsigned i = 0; i < thread_count; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&crowd.all_connected);
  pthread_mutex_destroy(&crowd.mutex);
  free(threads);
  check(run, crowd.failures == 0, "%u failures, the first: %s", crowd.failures, crowd.first_error.text);
}

static void many_clients_at_once(struct run *run) {
  call_together(run, run->settings->client_count, NULL);
}

static void many_threads_share_one_client(struct run *run) {
  if (!connect_to(run, any_version)) return;
  call_together(run, SHARING_THREADS, run->client);
  csi_client_close(run->client);
}

/* ---- Large messages ---- */

static char *long_path(struct run *run, size_t length) {
  char *text = malloc(length + 1);
  if (!check(run, text != NULL, "out of memory")) return NULL;
  memset(text, 'x', length);
  memcpy(text, "C:\\", 3);
  text[length] = '\0';
  return text;
}

static void check_too_long(struct run *run, size_t length, enum csi_code code, enum csi_code precise_code) {
  char *text = long_path(run, length);
  if (text == NULL || !connect_to(run, any_version)) {
    free(text);
    return;
  }
  check(run, mkdir_at(run, text) == code && run->error.precise_code == precise_code,
        "%zu bytes: %s, precisely %s: %s", length, csi_code_name(run->error.code),
        csi_code_name(run->error.precise_code), run->error.text);
  check_exists(run, run->settings->working_directory, true); /* the connection lives on */
  csi_client_close(run->client);
  free(text);
}

static void a_field_over_its_limit_is_refused(struct run *run) {
  check_too_long(run, 98301, CSI_UNKNOWN, CSI_INVALID_ARGUMENT);
  check_too_long(run, 98302, CSI_UNKNOWN, CSI_INVALID_ARGUMENT);
}

static void a_message_over_4_mib_is_refused(struct run *run) {
  check_too_long(run, 4 * 1024 * 1024 + 1, CSI_RESOURCE_EXHAUSTED, CSI_RESOURCE_EXHAUSTED);
}

/* ---- Calls that are given up ---- */

/* A directory with so many others in it that removing it takes far longer than a millisecond. */
static const char *make_tree(struct run *run) {
  const char *tree = path(run, "%s\\csi-client-tests\\tree", run->settings->working_directory);
  check(run, rmdir_at(run, tree, true) == CSI_OK, "%s", run->error.text);
  for (unsigned i = 0; !run->failed && i < run->settings->tree_count; i++) {
    char where[PATH_TEXT_BYTES];
    snprintf(where, sizeof where, "%.900s\\%u", tree, i);
    check_made(run, where);
  }
  return tree;
}

/* What is left of a tree after the service had time to stop: it must not have gone on to the end. */
static void check_given_up(struct run *run, const char *tree) {
  sleep_ms(SETTLE_MS);
  check_exists(run, tree, true);
  check(run, rmdir_at(run, tree, true) == CSI_OK, "the tree cannot be removed afterwards: %s",
        run->error.text);
}

static void a_deadline_stops_the_work(struct run *run) {
  if (!connect_to(run, any_version)) return;
  const char *tree = make_tree(run);
  struct csi_filesystem_rmdir_request request = {.path = tree, .force = true};
  struct csi_filesystem_rmdir_response *response = NULL;
  if (!run->failed) {
    enum csi_code code = csi_filesystem_rmdir(
        run->client, &request, &(struct csi_call_options){.timeout_ms = 1}, &response, &run->error);
    check(run, code == CSI_DEADLINE_EXCEEDED, "%s: %s (more --tree?)", csi_code_name(code), run->error.text);
    csi_response_free(response);
    check_given_up(run, tree);
  }
  csi_client_close(run->client);
}

static void *remove_without_end(void *context) {
  struct run *run = context;
  struct csi_filesystem_rmdir_request request = {.path = run->directory, .force = true};
  struct csi_filesystem_rmdir_response *response;
  csi_filesystem_rmdir(run->client, &request, NULL, &response, &run->error);
  csi_response_free(response);
  return NULL;
}

/* The process ends while its call is under way, as a driver that was killed. */
int vanish_during_rmdir(const struct settings *settings, const char *tree) {
  static struct run run;
  run.settings = settings;
  run.options.endpoint_format = settings->endpoint_format;
  run.directory = tree;
  pthread_t thread;
  if (!connect_to(&run, any_version) || pthread_create(&thread, NULL, remove_without_end, &run) != 0)
    return 1;
  /* Until the removal has begun. */
  struct csi_filesystem_path_exists_request request = {.path = path(&run, "%s\\0", tree)};
  for (;;) {
    struct csi_filesystem_path_exists_response *response;
    enum csi_code code = csi_filesystem_path_exists(run.client, &request, NULL, &response, NULL);
    bool exists = code == CSI_OK && response->exists;
    csi_response_free(response);
    if (!exists) _Exit(code == CSI_OK ? 0 : 1);
  }
}

static int run_vanishing_process(struct run *run, const char *tree) {
  const char *format = run->settings->endpoint_format;
  const char *arguments[6] = {run->settings->program, "--vanish-during-rmdir", tree};
  if (format != NULL) {
    arguments[3] = "--endpoint-format";
    arguments[4] = format;
  }
#if defined(_WIN32)
  return (int)_spawnv(_P_WAIT, run->settings->program, arguments);
#else
  pid_t child = fork();
  if (child == 0) {
    execv(run->settings->program, (char *const *)arguments);
    _exit(127);
  }
  int result = 0;
  if (child < 0 || waitpid(child, &result, 0) != child) return -1;
  return WIFEXITED(result) ? WEXITSTATUS(result) : -1;
#endif
}

static void a_client_that_vanishes_stops_its_work(struct run *run) {
  if (!connect_to(run, any_version)) return;
  const char *tree = make_tree(run);
  if (!run->failed) {
    int result = run_vanishing_process(run, tree);
    check(run, result == 0, "the other process ended with %d", result);
    check_given_up(run, tree);
  }
  csi_client_close(run->client);
}

const struct test_case service_cases[] = {
    GOOD("service", NEEDS_NOTHING, the_best_version_is_v1),
    GOOD("service", NEEDS_NOTHING, the_order_is_the_callers),
    BAD("service", NEEDS_NOTHING, a_missing_pipe_is_not_found_at_once),
    GOOD("service", NEEDS_NOTHING, many_threads_share_one_client),
    GOOD("service", NEEDS_NOTHING, many_clients_at_once),
    BAD("service", NEEDS_NOTHING, a_field_over_its_limit_is_refused),
    BAD("service", NEEDS_NOTHING, a_message_over_4_mib_is_refused),
    BAD("service", NEEDS_NOTHING, a_deadline_stops_the_work),
    BAD("service", NEEDS_NOTHING, a_client_that_vanishes_stops_its_work),
};
const size_t service_case_count = sizeof service_cases / sizeof service_cases[0];
