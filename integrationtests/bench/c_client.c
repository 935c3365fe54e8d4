/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures the filesystem service through our C client. The same calls as integrationtests/go/bench.
 *
 *   c_client sequential CALLS          latency of one caller
 *   c_client callers CALLERS CALLS     calls per second of many callers, CALLS each
 */
#include <csi-proxy/filesystem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

#include "measure.h"

enum { WARM_UP_CALLS = 200, MAX_CALLERS = MAXIMUM_WAIT_OBJECTS };

static const char bench_dir[] = "C:\\var\\lib\\kubelet\\plugins\\bench.csi";
static const char scratch_dir[] = "C:\\var\\lib\\kubelet\\plugins\\bench.csi\\c-sequential";

static void must(enum csi_code code, const struct csi_error *error) {
  if (code != CSI_OK) {
    bench_die(error->text, error->number);
  }
}

static struct csi_client *connect_v1(void) {
  static const char *const versions[] = {"v1", NULL};
  struct csi_client *client = NULL;
  struct csi_error error;
  must(csi_client_connect("filesystem", versions, NULL, &client, &error), &error);
  return client;
}

static void path_exists(struct csi_client *client, const char *path) {
  struct csi_filesystem_path_exists_request request = {.path = path};
  struct csi_filesystem_path_exists_response *response = NULL;
  struct csi_error error;
  must(csi_filesystem_path_exists(client, &request, NULL, &response, &error), &error);
  csi_response_free(response);
}

static void make_dir(struct csi_client *client, const char *path) {
  struct csi_filesystem_mkdir_request request = {.path = path};
  struct csi_filesystem_mkdir_response *response = NULL;
  struct csi_error error;
  must(csi_filesystem_mkdir(client, &request, NULL, &response, &error), &error);
  csi_response_free(response);
}

static void remove_dir(struct csi_client *client, const char *path) {
  struct csi_filesystem_rmdir_request request = {.path = path};
  struct csi_filesystem_rmdir_response *response = NULL;
  struct csi_error error;
  must(csi_filesystem_rmdir(client, &request, NULL, &response, &error), &error);
  csi_response_free(response);
}

static double time_call(void (*call)(struct csi_client *, const char *), struct csi_client *client,
                        const char *path) {
  double start_us = bench_now_us();
  call(client, path);
  return bench_now_us() - start_us;
}

static void sequential(size_t calls) {
  struct csi_client *client = connect_v1();
  make_dir(client, bench_dir);
  for (int i = 0; i < WARM_UP_CALLS; i++) {
    path_exists(client, bench_dir);
  }
  double *found_us = bench_samples(calls);
  for (size_t i = 0; i < calls; i++) {
    found_us[i] = time_call(path_exists, client, bench_dir);
  }
  size_t pairs = calls / 4 + 1;
  double *made_us = bench_samples(pairs);
  double *removed_us = bench_samples(pairs);
  for (size_t i = 0; i < pairs; i++) {
    made_us[i] = time_call(make_dir, client, scratch_dir);
    removed_us[i] = time_call(remove_dir, client, scratch_dir);
  }
  bench_print_percentiles("c.path_exists", found_us, calls);
  bench_print_percentiles("c.mkdir", made_us, pairs);
  bench_print_percentiles("c.rmdir", removed_us, pairs);
  free(found_us);
  free(made_us);
  free(removed_us);
  csi_client_close(client);
}

struct caller {
  struct csi_client *client;
  size_t calls;
};

static DWORD WINAPI run_caller(void *context) {
  const struct caller *caller = context;
  for (size_t i = 0; i < caller->calls; i++) {
    path_exists(caller->client, bench_dir);
  }
  return 0;
}

static void throughput(const char *name, struct caller *callers, DWORD count) {
  HANDLE threads[MAX_CALLERS];
  double start_us = bench_now_us();
  for (DWORD i = 0; i < count; i++) {
    threads[i] = CreateThread(NULL, 0, run_caller, &callers[i], 0, NULL);
    if (threads[i] == NULL) {
      bench_die("CreateThread", GetLastError());
    }
  }
  WaitForMultipleObjects(count, threads, TRUE, INFINITE);
  double took_s = (bench_now_us() - start_us) / 1e6;
  bench_print(name, (double)count * (double)callers[0].calls / took_s);
  for (DWORD i = 0; i < count; i++) {
    CloseHandle(threads[i]);
  }
}

static void many_callers(DWORD count, size_t calls) {
  struct csi_client *own[MAX_CALLERS];
  struct caller callers[MAX_CALLERS];
  for (DWORD i = 0; i < count; i++) {
    own[i] = connect_v1();
    make_dir(own[i], bench_dir);
    callers[i] = (struct caller){.client = own[0], .calls = calls};
  }
  throughput("c.shared.calls_per_s", callers, count);
  for (DWORD i = 0; i < count; i++) {
    callers[i].client = own[i];
  }
  throughput("c.own.calls_per_s", callers, count);
  for (DWORD i = 0; i < count; i++) {
    csi_client_close(own[i]);
  }
}

int wmain(int argc, wchar_t **argv);

int wmain(int argc, wchar_t **argv) {
  if (argc == 3 && wcscmp(argv[1], L"sequential") == 0) {
    unsigned long calls = wcstoul(argv[2], NULL, 10);
    if (calls > 0) {
      sequential(calls);
      return EXIT_SUCCESS;
    }
  }
  if (argc == 4 && wcscmp(argv[1], L"callers") == 0) {
    unsigned long count = wcstoul(argv[2], NULL, 10);
    unsigned long calls = wcstoul(argv[3], NULL, 10);
    if (count > 0 && count <= MAX_CALLERS && calls > 0) {
      many_callers(count, calls);
      return EXIT_SUCCESS;
    }
  }
  fprintf(stderr, "usage: c_client sequential CALLS | callers CALLERS CALLS (at most %d callers)\n",
          MAX_CALLERS);
  return 2;
}
