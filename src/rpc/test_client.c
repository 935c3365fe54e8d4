/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/test_client.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/compression.h>
#include <grpc/slice.h>
#include <grpc/support/time.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/reply.h"
#include "transport/transport.h"

struct test_pending {
  grpc_completion_queue *queue;
  grpc_call *call;
  grpc_byte_buffer *request, *response;
  grpc_metadata_array initial_metadata, trailing_metadata;
  grpc_status_code code;
  grpc_slice details;
};

grpc_channel *test_connect(const char *endpoint, bool gzip) {
  grpc_arg compress = {.type = GRPC_ARG_INTEGER,
                       .key = (char *)GRPC_COMPRESSION_CHANNEL_DEFAULT_ALGORITHM,
                       .value.integer = gzip ? GRPC_COMPRESS_GZIP : GRPC_COMPRESS_NONE};
  const grpc_channel_args args = {.num_args = 1, .args = &compress};
  struct csi_status status = {0};
  grpc_channel *channel = csi_transport_connect(endpoint, 2000, &args, &status);
  if (!channel) {
    fprintf(stderr, "cannot connect: %s\n", status.text);
    abort();
  }
  return channel;
}

struct test_pending *test_start_call(const struct test_call *call) {
  struct test_pending *pending = calloc(1, sizeof *pending);
  if (!pending) abort();
  pending->queue = grpc_completion_queue_create_for_pluck(NULL);
  gpr_timespec deadline =
      call->timeout_ms
          ? gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(call->timeout_ms, GPR_TIMESPAN))
          : gpr_inf_future(GPR_CLOCK_REALTIME);
  pending->call = grpc_channel_create_call(call->channel, NULL, 0, pending->queue,
                                           grpc_slice_from_copied_string(call->path), NULL, deadline, NULL);
  grpc_slice request = grpc_slice_from_copied_buffer((const char *)call->request, call->request_length);
  pending->request = grpc_raw_byte_buffer_create(&request, 1);
  grpc_slice_unref(request);
  grpc_metadata_array_init(&pending->initial_metadata);
  grpc_metadata_array_init(&pending->trailing_metadata);
  grpc_op operations[6];
  memset(operations, 0, sizeof operations);
  operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  operations[1].op = GRPC_OP_SEND_MESSAGE;
  operations[1].data.send_message.send_message = pending->request;
  operations[2].op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  operations[3].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations[3].data.recv_initial_metadata.recv_initial_metadata = &pending->initial_metadata;
  operations[4].op = GRPC_OP_RECV_MESSAGE;
  operations[4].data.recv_message.recv_message = &pending->response;
  operations[5].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations[5].data.recv_status_on_client.trailing_metadata = &pending->trailing_metadata;
  operations[5].data.recv_status_on_client.status = &pending->code;
  operations[5].data.recv_status_on_client.status_details = &pending->details;
  if (grpc_call_start_batch(pending->call, operations, 6, pending, NULL) != GRPC_CALL_OK) abort();
  return pending;
}

void test_cancel(struct test_pending *pending) {
  grpc_call_cancel(pending->call, NULL);
}

static void copy_slice(grpc_slice slice, char *text, size_t size_bytes) {
  snprintf(text, size_bytes, "%.*s", (int)GRPC_SLICE_LENGTH(slice),
           (const char *)GRPC_SLICE_START_PTR(slice));
}

static void copy_metadata(const grpc_metadata_array *metadata, const char *key, char *text,
                          size_t size_bytes) {
  text[0] = '\0';
  for (size_t i = 0; i < metadata->count; i++) {
    if (grpc_slice_str_cmp(metadata->metadata[i].key, key) == 0) {
      copy_slice(metadata->metadata[i].value, text, size_bytes);
    }
  }
}

static void copy_response(grpc_byte_buffer *buffer, struct test_reply *reply) {
  grpc_byte_buffer_reader reader;
  grpc_byte_buffer_reader_init(&reader, buffer);
  grpc_slice bytes = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  reply->has_response = true;
  reply->response_length = GRPC_SLICE_LENGTH(bytes);
  if (reply->response_length > sizeof reply->response) abort();
  memcpy(reply->response, GRPC_SLICE_START_PTR(bytes), reply->response_length);
  grpc_slice_unref(bytes);
}

void test_finish(struct test_pending *pending, struct test_reply *reply) {
  grpc_completion_queue_pluck(pending->queue, pending, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
  memset(reply, 0, sizeof *reply);
  reply->code = pending->code;
  copy_slice(pending->details, reply->text, sizeof reply->text);
  const grpc_metadata_array *trailing = &pending->trailing_metadata;
  copy_metadata(trailing, CSI_METADATA_CODE, reply->precise_code, sizeof reply->precise_code);
  copy_metadata(trailing, CSI_METADATA_ERROR_SPACE, reply->error_space, sizeof reply->error_space);
  copy_metadata(trailing, CSI_METADATA_ERROR_NUMBER, reply->error_number, sizeof reply->error_number);
  copy_metadata(trailing, CSI_METADATA_ERROR_CALL, reply->error_call, sizeof reply->error_call);
  if (pending->response) {
    copy_response(pending->response, reply);
    grpc_byte_buffer_destroy(pending->response);
  }
  grpc_byte_buffer_destroy(pending->request);
  grpc_metadata_array_destroy(&pending->initial_metadata);
  grpc_metadata_array_destroy(&pending->trailing_metadata);
  grpc_slice_unref(pending->details);
  grpc_call_unref(pending->call);
  grpc_completion_queue_shutdown(pending->queue);
  grpc_completion_queue_destroy(pending->queue);
  free(pending);
}

void test_make_call(const struct test_call *call, struct test_reply *reply_out) {
  test_finish(test_start_call(call), reply_out);
}

/* -- Streams --------------------------------------------------------------------------------------- */

struct test_stream {
  grpc_completion_queue *queue;
  grpc_call *call;
  grpc_metadata_array initial_metadata, trailing_metadata;
  grpc_status_code code;
  grpc_slice details;
};

static void run_batch(struct test_stream *stream, const grpc_op *operations, size_t count, void *tag) {
  if (grpc_call_start_batch(stream->call, operations, count, tag, NULL) != GRPC_CALL_OK) abort();
  grpc_completion_queue_pluck(stream->queue, tag, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
}

struct test_stream *test_open_stream(grpc_channel *channel, const char *path) {
  struct test_stream *stream = calloc(1, sizeof *stream);
  if (!stream) abort();
  stream->queue = grpc_completion_queue_create_for_pluck(NULL);
  stream->call =
      grpc_channel_create_call(channel, NULL, 0, stream->queue, grpc_slice_from_copied_string(path), NULL,
                               gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
  grpc_metadata_array_init(&stream->initial_metadata);
  grpc_metadata_array_init(&stream->trailing_metadata);
  grpc_op operations[2];
  memset(operations, 0, sizeof operations);
  operations[0].op = GRPC_OP_RECV_INITIAL_METADATA;
  operations[0].data.recv_initial_metadata.recv_initial_metadata = &stream->initial_metadata;
  operations[1].op = GRPC_OP_RECV_STATUS_ON_CLIENT;
  operations[1].data.recv_status_on_client.trailing_metadata = &stream->trailing_metadata;
  operations[1].data.recv_status_on_client.status = &stream->code;
  operations[1].data.recv_status_on_client.status_details = &stream->details;
  for (size_t i = 0; i < 2; i++)
    if (grpc_call_start_batch(stream->call, &operations[i], 1, i ? (void *)stream : &stream->initial_metadata,
                              NULL) != GRPC_CALL_OK)
      abort();
  memset(operations, 0, sizeof operations);
  operations[0].op = GRPC_OP_SEND_INITIAL_METADATA;
  run_batch(stream, operations, 1, &stream->code);
  return stream;
}

void test_send(struct test_stream *stream, const uint8_t *bytes, size_t length) {
  grpc_slice slice = grpc_slice_from_copied_buffer((const char *)bytes, length);
  grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1);
  grpc_slice_unref(slice);
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_SEND_MESSAGE;
  operation.data.send_message.send_message = message;
  run_batch(stream, &operation, 1, &operation);
  grpc_byte_buffer_destroy(message);
}

void test_send_no_more(struct test_stream *stream) {
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT;
  run_batch(stream, &operation, 1, &operation);
}

bool test_receive(struct test_stream *stream, uint8_t *bytes_out, size_t room, size_t *length_out) {
  grpc_byte_buffer *message = NULL;
  grpc_op operation;
  memset(&operation, 0, sizeof operation);
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = &message;
  run_batch(stream, &operation, 1, &operation);
  if (!message) return false;
  grpc_byte_buffer_reader reader;
  grpc_byte_buffer_reader_init(&reader, message);
  grpc_slice bytes = grpc_byte_buffer_reader_readall(&reader);
  grpc_byte_buffer_reader_destroy(&reader);
  *length_out = GRPC_SLICE_LENGTH(bytes);
  memcpy(bytes_out, GRPC_SLICE_START_PTR(bytes), *length_out < room ? *length_out : room);
  grpc_slice_unref(bytes);
  grpc_byte_buffer_destroy(message);
  return true;
}

void test_cancel_stream(struct test_stream *stream) {
  grpc_call_cancel(stream->call, NULL);
}

void test_end_stream(struct test_stream *stream, struct test_reply *reply_out) {
  gpr_timespec never = gpr_inf_future(GPR_CLOCK_REALTIME);
  grpc_completion_queue_pluck(stream->queue, stream, never, NULL);
  grpc_completion_queue_pluck(stream->queue, &stream->initial_metadata, never, NULL);
  memset(reply_out, 0, sizeof *reply_out);
  reply_out->code = stream->code;
  copy_slice(stream->details, reply_out->text, sizeof reply_out->text);
  grpc_metadata_array_destroy(&stream->initial_metadata);
  grpc_metadata_array_destroy(&stream->trailing_metadata);
  grpc_slice_unref(stream->details);
  grpc_call_unref(stream->call);
  grpc_completion_queue_shutdown(stream->queue);
  grpc_completion_queue_destroy(stream->queue);
  free(stream);
}
