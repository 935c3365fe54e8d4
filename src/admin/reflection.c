/* SPDX-License-Identifier: Apache-2.0
 *
 * Stateless: descriptors are decoded for each question, one group at a time, and forgotten again. People ask
 * seldom, and what is loaded would stay for ever.
 *
 * v1alpha is served with the messages of v1: they differ in the package only, which is not on the wire.
 */
#include "admin/reflection.h"

#include <string.h>

#include "admin/descriptor_search.h"
#include "grpc/descriptors.h"
#include "grpc/reflection/v1/reflection.pb-c.h"

enum {
  LONGEST_TEXT_BYTES = 1024,
  MAX_FILES = 64, /* in one answer */
};

typedef Grpc__Reflection__V1__ServerReflectionRequest Request;
typedef Grpc__Reflection__V1__ServerReflectionResponse Response;
typedef Grpc__Reflection__V1__FileDescriptorResponse Files;
typedef google_protobuf_FileDescriptorProto File;
typedef google_protobuf_FileDescriptorSet FileSet;

/* -- Answers --------------------------------------------------------------------------------------- */

static bool answer_error(struct csi_ctx *ctx, Response *response, enum csi_code code, const char *what,
                         const char *name) {
  Grpc__Reflection__V1__ErrorResponse *error = csi_arena_alloc(ctx->arena, sizeof *error);
  char *text = csi_arena_printf(ctx->arena, "%s not found: %s", what, name);
  if (!error || !text) return csi_fail_out_of_memory(&ctx->status);
  grpc__reflection__v1__error_response__init(error);
  error->error_code = (int32_t)code;
  error->error_message = text;
  response->message_response_case =
      GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
  response->error_response = error;
  return true;
}

/* -- Files ----------------------------------------------------------------------------------------- */

/* A file and all it imports, the file first. */
struct closure {
  const File *files[MAX_FILES];
  size_t count;
};

static void add_file(struct closure *closure, const File *file) {
  for (size_t i = 0; i < closure->count; i++)
    if (closure->files[i] == file) return;
  if (closure->count < MAX_FILES) closure->files[closure->count++] = file;
}

static void close_over_imports(struct closure *closure, const FileSet *set) {
  for (size_t i = 0; i < closure->count; i++) {
    size_t count = 0;
    const upb_StringView *imports = google_protobuf_FileDescriptorProto_dependency(closure->files[i], &count);
    for (size_t j = 0; j < count; j++) {
      const File *import = csi_descriptor_find_file(set, imports[j]);
      if (import) add_file(closure, import);
    }
  }
}

static bool put_file(struct csi_ctx *ctx, upb_Arena *work, const File *file, ProtobufCBinaryData *out) {
  size_t length = 0;
  const char *bytes = google_protobuf_FileDescriptorProto_serialize(file, work, &length);
  out->data = bytes ? csi_arena_alloc(ctx->arena, length > 0 ? length : 1) : NULL;
  if (!out->data) return csi_fail_out_of_memory(&ctx->status);
  memcpy(out->data, bytes, length);
  out->len = length;
  return true;
}

static bool answer_files(struct csi_ctx *ctx, Response *response, upb_Arena *work, const FileSet *set,
                         const File *file) {
  struct closure closure = {.count = 0};
  add_file(&closure, file);
  close_over_imports(&closure, set);
  Files *files = csi_arena_alloc(ctx->arena, sizeof *files);
  ProtobufCBinaryData *data = csi_arena_alloc_array(ctx->arena, closure.count, sizeof *data);
  if (!files || !data) return csi_fail_out_of_memory(&ctx->status);
  grpc__reflection__v1__file_descriptor_response__init(files);
  files->file_descriptor_proto = data;
  for (; files->n_file_descriptor_proto < closure.count; files->n_file_descriptor_proto++) {
    size_t i = files->n_file_descriptor_proto;
    if (!put_file(ctx, work, closure.files[i], &data[i])) return false;
  }
  response->message_response_case =
      GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
  response->file_descriptor_response = files;
  return true;
}

static bool is_named(const File *file, const char *name) {
  return upb_StringView_IsEqual(google_protobuf_FileDescriptorProto_name(file),
                                upb_StringView_FromString(name));
}

typedef bool match_fn(const File *file, const char *name);

/* Answers with the first file of the group that fits; *found_out = false when there is none. */
static bool search_list(struct csi_ctx *ctx, Response *response, const struct csi_service_list *list,
                        match_fn *fits, const char *name, bool *found_out) {
  upb_Arena *work = upb_Arena_New();
  const FileSet *set = work ? google_protobuf_FileDescriptorSet_parse((const char *)list->descriptor_set,
                                                                      list->descriptor_set_bytes, work)
                            : NULL;
  size_t count = 0;
  const File *const *files = set ? google_protobuf_FileDescriptorSet_file(set, &count) : NULL;
  bool ok = set != NULL || csi_fail_out_of_memory(&ctx->status);
  for (size_t i = 0; ok && i < count && !*found_out; i++) {
    if (!fits(files[i], name)) continue;
    *found_out = true;
    ok = answer_files(ctx, response, work, set, files[i]);
  }
  if (work) upb_Arena_Free(work);
  return ok;
}

static bool search(struct csi_ctx *ctx, Response *response, const struct csi_reflection *reflection,
                   match_fn *fits, const char *what, const char *name) {
  bool found = false, ok = true;
  for (size_t i = 0; ok && !found && reflection->own[i]; i++)
    ok = search_list(ctx, response, reflection->own[i], fits, name, &found);
  for (size_t i = 0; ok && !found && reflection->groups[i]; i++)
    ok = search_list(ctx, response, reflection->groups[i], fits, name, &found);
  return ok && (found || answer_error(ctx, response, CSI_NOT_FOUND, what, name));
}

/* -- Services -------------------------------------------------------------------------------------- */

static bool answer_services(struct csi_ctx *ctx, Response *response,
                            const struct csi_service_list *const *lists) {
  size_t room = 0;
  for (size_t i = 0; lists[i]; i++)
    room += lists[i]->service_count;
  Grpc__Reflection__V1__ListServiceResponse *answer = csi_arena_alloc(ctx->arena, sizeof *answer);
  Grpc__Reflection__V1__ServiceResponse *services =
      csi_arena_alloc_array(ctx->arena, room + 1, sizeof *services);
  Grpc__Reflection__V1__ServiceResponse **references =
      csi_arena_alloc_array(ctx->arena, room + 1, sizeof *references);
  if (!answer || !services || !references) return csi_fail_out_of_memory(&ctx->status);
  grpc__reflection__v1__list_service_response__init(answer);
  answer->service = references;
  for (size_t i = 0; lists[i]; i++) {
    for (size_t j = 0; j < lists[i]->service_count; j++) {
      Grpc__Reflection__V1__ServiceResponse *service = &services[answer->n_service];
      grpc__reflection__v1__service_response__init(service);
      service->name = csi_arena_strdup(ctx->arena, lists[i]->services[j]->name);
      if (!service->name) return csi_fail_out_of_memory(&ctx->status);
      references[answer->n_service++] = service;
    }
  }
  response->message_response_case =
      GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
  response->list_services_response = answer;
  return true;
}

/* -- Questions ------------------------------------------------------------------------------------- */

/* Nothing here is extended but options of descriptors, which nobody sends. */
static bool answer(struct csi_ctx *ctx, const struct csi_reflection *reflection, const Request *request,
                   Response *response) {
  switch (request->message_request_case) {
  case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
    return answer_services(ctx, response, reflection->own);
  case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
    return search(ctx, response, reflection, is_named, "file", request->file_by_filename);
  case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
    return search(ctx, response, reflection, csi_descriptor_declares, "symbol",
                  request->file_containing_symbol);
  case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
    return answer_error(ctx, response, CSI_NOT_FOUND, "extension of",
                        request->file_containing_extension->containing_type);
  case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
    return answer_error(ctx, response, CSI_NOT_FOUND, "extension of", request->all_extension_numbers_of_type);
  default:
    return answer_error(ctx, response, CSI_INVALID_ARGUMENT, "question", "the request asks nothing");
  }
}

static bool serve_info(struct csi_ctx *ctx, void *group, const ProtobufCMessage *message,
                       const ProtobufCMessage **response_out) {
  /* The answer repeats its question. */
  Request *request = (Request *)(uintptr_t)message;
  Response *response = csi_arena_alloc(ctx->arena, sizeof *response);
  if (!response) return csi_fail_out_of_memory(&ctx->status);
  grpc__reflection__v1__server_reflection_response__init(response);
  response->valid_host = request->host;
  response->original_request = request;
  *response_out = &response->base;
  return answer(ctx, group, request, response);
}

/* -- Tables ---------------------------------------------------------------------------------------- */

#define TEXT(field_number, field_name)                                                                       \
  { .number = (field_number), .kind = CSI_WIRE_STRING, .max_bytes = LONGEST_TEXT_BYTES, .name = (field_name) }

static const struct csi_wire_field extension_fields[] = {
    TEXT(1, "containing_type"),
    {.number = 2, .kind = CSI_WIRE_VARINT, .name = "extension_number"},
};
static const struct csi_wire_message extension_wire = {
    .name = "grpc.reflection.v1.ExtensionRequest", .fields = extension_fields, .field_count = 2};

static const struct csi_wire_field request_fields[] = {
    TEXT(1, "host"),
    TEXT(3, "file_by_filename"),
    TEXT(4, "file_containing_symbol"),
    {.number = 5, .kind = CSI_WIRE_MESSAGE, .message = &extension_wire, .name = "file_containing_extension"},
    TEXT(6, "all_extension_numbers_of_type"),
    TEXT(7, "list_services"),
};
static const struct csi_wire_message request_wire = {
    .name = "grpc.reflection.v1.ServerReflectionRequest",
    .fields = request_fields,
    .field_count = sizeof request_fields / sizeof *request_fields,
};

static const struct csi_method methods[] = {
    {.name = "ServerReflectionInfo",
     .lane = CSI_LANE_SHORT,
     .streaming = CSI_ANSWERS_EACH,
     .request = &grpc__reflection__v1__server_reflection_request__descriptor,
     .request_wire = &request_wire,
     .serve = serve_info},
};
static const struct csi_service reflection_v1 = {
    .group = "reflection",
    .version = "v1",
    .name = "grpc.reflection.v1.ServerReflection",
    .methods = methods,
    .method_count = 1,
    .precise_codes = true,
};
static const struct csi_service reflection_v1alpha = {
    .group = "reflection",
    .version = "v1alpha",
    .name = "grpc.reflection.v1alpha.ServerReflection",
    .methods = methods,
    .method_count = 1,
    .precise_codes = true,
};
static const struct csi_service *const services[] = {&reflection_v1alpha, &reflection_v1};

const struct csi_service_list csi_reflection_services = {
    .services = services,
    .service_count = 2,
    .descriptor_set = csi_grpc_descriptor_set,
    .descriptor_set_bytes = sizeof csi_grpc_descriptor_set,
};
