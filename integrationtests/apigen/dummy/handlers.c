/* SPDX-License-Identifier: Apache-2.0 */
#include "dummy/handlers.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "dummy/dummy.h"

bool csi_dummy_serve_compute_double(struct csi_ctx *ctx, struct csi_dummy *group,
                                    const struct csi_dummy_compute_double_request *request,
                                    struct csi_dummy_compute_double_response *response) {
  atomic_fetch_add(&group->calls, 1);
  if (__builtin_add_overflow(request->input, request->input, &response->response))
    return csi_fail(&ctx->status, CSI_OUT_OF_RANGE, "int64 overflow with input: %" PRId64, request->input);
  return true;
}

bool csi_dummy_serve_tell_me_a_poem(struct csi_ctx *ctx, struct csi_dummy *group,
                                    const struct csi_dummy_tell_me_a_poem_request *request,
                                    struct csi_dummy_tell_me_a_poem_response *response) {
  static const char *const lines[] = {"A pipe that speaks,", "a pipe that hears,", "and no one in between."};
  enum { LINES = sizeof lines / sizeof *lines };
  atomic_fetch_add(&group->calls, 1);
  if (request->line_count == 0) return csi_fail(&ctx->status, CSI_INVALID_ARGUMENT, "a poem has lines");
  response->title = request->i_want_a_title ? "The Pipe" : "";
  response->lines = lines;
  response->lines_count = request->line_count < LINES ? request->line_count : LINES;
  return true;
}

bool csi_dummy_serve_list_shelves(struct csi_ctx *ctx, struct csi_dummy *group,
                                  const struct csi_dummy_list_shelves_request *request,
                                  struct csi_dummy_list_shelves_response *response) {
  atomic_fetch_add(&group->calls, 1);
  struct csi_dummy_list_shelves_response_shelves_entry *shelves =
      csi_arena_alloc_array(ctx->arena, request->numbers_count + 1, sizeof *shelves);
  struct csi_dummy_list_shelves_response_labels_entry *labels =
      csi_arena_alloc_array(ctx->arena, request->labels_count + 1, sizeof *labels);
  if (shelves == NULL || labels == NULL) return csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; i < request->numbers_count; i++) {
    shelves[i].key = request->numbers[i];
    shelves[i].value.material = CSI_DUMMY_MATERIAL_GLASS;
    shelves[i].value.books = request->book;
    shelves[i].value.books_count = request->book != NULL ? 1 : 0;
  }
  for (size_t i = 0; i < request->labels_count; i++) {
    labels[i].key = request->labels[i].key;
    labels[i].value = request->labels[i].value;
  }
  response->shelves = shelves;
  response->shelves_count = request->numbers_count;
  response->labels = labels;
  response->labels_count = request->labels_count;
  return true;
}

bool csi_dummy_serve_exchange(struct csi_ctx *ctx, struct csi_dummy *group,
                              const struct csi_dummy_exchange_request *request,
                              struct csi_dummy_exchange_response *response) {
  atomic_fetch_add(&group->calls, 1);
  const struct csi_dummy_credentials *who = request->credentials;
  if (group->expected_password != NULL &&
      (who == NULL || strcmp(who->password, group->expected_password) != 0))
    return csi_fail(&ctx->status, CSI_UNAUTHENTICATED, "wrong password");
  response->user = who != NULL ? who->user : "";
  response->goods = request->goods;
  return true;
}

bool csi_dummy_serve_sleep(struct csi_ctx *ctx, struct csi_dummy *group,
                           const struct csi_dummy_sleep_request *request,
                           struct csi_dummy_sleep_response *response) {
  (void)response;
  const int64_t end_ns = csi_now_ns() + (int64_t)request->duration_ms * 1000000;
  const struct timespec step = {.tv_nsec = 1000000};
  bool alive = true;
  atomic_fetch_add(&group->calls, 1);
  atomic_fetch_add(&group->sleeping, 1);
  while (csi_now_ns() < end_ns && (alive = csi_ctx_alive(ctx)))
    nanosleep(&step, NULL);
  atomic_fetch_sub(&group->sleeping, 1);
  return alive;
}
