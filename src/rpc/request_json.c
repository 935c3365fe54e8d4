/* SPDX-License-Identifier: Apache-2.0
 *
 * upb decodes and prints; protobuf-c has no reflection. Secrets are cut out of the encoded request first,
 * so that no memory of upb's ever holds one.
 */
#include "rpc/request_json.h"

#include <google/protobuf/descriptor.upb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <upb/decode.h>
#include <upb/json_encode.h>
#include <upb/reflection.h>

#include "base/text.h"
#include "rpc/wire_reader.h"

static const char cannot_be_shown[] = "(request cannot be shown)";
static const char blank[] = "***";
static const char ellipsis[] = "\xe2\x80\xa6";

/* ---- Descriptors, loaded once for each list ---- */

struct loaded_list {
  const struct csi_service_list *list;
  upb_DefPool *pool; /* NULL: its descriptors cannot be loaded */
  struct loaded_list *next;
};

static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER;
static struct loaded_list *loaded_lists;

/* A file that upb refuses leaves only its own messages unknown. */
static void add_files(upb_DefPool *pool, const google_protobuf_FileDescriptorSet *set) {
  size_t count = 0;
  const google_protobuf_FileDescriptorProto *const *files =
      google_protobuf_FileDescriptorSet_file(set, &count);
  for (size_t i = 0; i < count; i++) {
    upb_Status status;
    upb_Status_Clear(&status);
    upb_DefPool_AddFile(pool, files[i], &status);
  }
}

static upb_DefPool *load_pool(const struct csi_service_list *list) {
  upb_DefPool *pool = upb_DefPool_New();
  upb_Arena *arena = upb_Arena_New();
  const google_protobuf_FileDescriptorSet *set = NULL;
  if (pool && arena)
    set = google_protobuf_FileDescriptorSet_parse((const char *)list->descriptor_set,
                                                  list->descriptor_set_bytes, arena);
  if (set) add_files(pool, set);
  if (arena) upb_Arena_Free(arena);
  if (set) return pool;
  if (pool) upb_DefPool_Free(pool);
  return NULL;
}

static struct loaded_list *find_loaded(const struct csi_service_list *list) {
  struct loaded_list *loaded = loaded_lists;
  while (loaded && loaded->list != list)
    loaded = loaded->next;
  return loaded;
}

static struct loaded_list *load(const struct csi_service_list *list) {
  struct loaded_list *loaded = malloc(sizeof *loaded);
  if (!loaded) return NULL;
  *loaded = (struct loaded_list){.list = list, .pool = load_pool(list), .next = loaded_lists};
  loaded_lists = loaded;
  return loaded;
}

static const upb_DefPool *pool_of(const struct csi_service_list *list) {
  pthread_mutex_lock(&loaded_lock);
  const struct loaded_list *loaded = find_loaded(list);
  if (!loaded) loaded = load(list);
  const upb_DefPool *pool = loaded ? loaded->pool : NULL;
  pthread_mutex_unlock(&loaded_lock);
  return pool;
}

/* ---- Cutting secrets out ---- */

struct writer {
  uint8_t *at;
  uint8_t *end;
};

static bool put_bytes(struct writer *writer, const void *bytes, size_t length) {
  if (length > (size_t)(writer->end - writer->at)) return false;
  memcpy(writer->at, bytes, length);
  writer->at += length;
  return true;
}

static bool put_byte(struct writer *writer, uint32_t byte) {
  return put_bytes(writer, &(uint8_t){(uint8_t)byte}, 1);
}

static bool put_tag(struct writer *writer, uint32_t number) {
  uint32_t tag = number << 3 | CSI_WIRE_TYPE_LENGTH;
  for (; tag >= 0x80; tag >>= 7)
    if (!put_byte(writer, tag | 0x80)) return false;
  return put_byte(writer, tag);
}

static bool put_blank(struct writer *writer, uint32_t number) {
  return put_tag(writer, number) && put_byte(writer, sizeof blank - 1) &&
         put_bytes(writer, blank, sizeof blank - 1);
}

enum {
  LENGTH_BYTES = 5, /* a length is padded, because it is known only after what it counts */
  GROWTH = 3,       /* at most: a message of two bytes gets six more, an empty secret of two three */
};

static void set_length(uint8_t *at, size_t length) {
  for (unsigned i = 0; i < LENGTH_BYTES; i++)
    at[i] = (uint8_t)((length >> 7 * i & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

static bool is_secret(const struct csi_service_list *list, const upb_FieldDef *field) {
  for (const char *const *name = list->secret_fields; name && *name; name++)
    if (strcmp(*name, upb_FieldDef_FullName(field)) == 0) return true;
  return false;
}

static bool is_text(const upb_FieldDef *field) {
  return upb_FieldDef_CType(field) == kUpb_CType_String || upb_FieldDef_CType(field) == kUpb_CType_Bytes;
}

static bool put_message(struct writer *writer, const struct csi_service_list *list,
                        const upb_MessageDef *message, struct csi_wire_reader reader, unsigned depth);

static bool put_submessage(struct writer *writer, const struct csi_service_list *list,
                           const upb_FieldDef *field, const struct csi_wire_item *item, unsigned depth) {
  const uint8_t no_length[LENGTH_BYTES] = {0};
  if (!put_tag(writer, item->number) || !put_bytes(writer, no_length, sizeof no_length)) return false;
  uint8_t *start = writer->at;
  const struct csi_wire_reader reader = {item->bytes, item->bytes + item->length};
  if (!put_message(writer, list, upb_FieldDef_MessageSubDef(field), reader, depth + 1)) return false;
  set_length(start - LENGTH_BYTES, (size_t)(writer->at - start));
  return true;
}

/* Copies a message, with secrets blanked and without what the proto does not know. */
static bool put_message(struct writer *writer, const struct csi_service_list *list,
                        const upb_MessageDef *message, struct csi_wire_reader reader, unsigned depth) {
  if (depth > CSI_WIRE_MAX_DEPTH) return false;
  while (reader.at != reader.end) {
    const uint8_t *start = reader.at;
    struct csi_wire_item item;
    if (csi_wire_next(&reader, &item)) return false;
    const upb_FieldDef *field = upb_MessageDef_FindFieldByNumber(message, item.number);
    bool ok = true;
    if (!field)
      ok = true;
    else if (is_secret(list, field))
      ok = !is_text(field) || put_blank(writer, item.number);
    else if (upb_FieldDef_IsSubMessage(field) && item.type == CSI_WIRE_TYPE_LENGTH)
      ok = put_submessage(writer, list, field, &item, depth);
    else
      ok = put_bytes(writer, start, (size_t)(reader.at - start));
    if (!ok) return false;
  }
  return true;
}

/* Replaces *bytes by a copy without secrets. */
static bool blank_secrets(struct csi_arena *arena, const struct csi_service_list *list,
                          const upb_MessageDef *message, const uint8_t **bytes, size_t *length) {
  const size_t capacity = GROWTH * *length + 1;
  uint8_t *copy = csi_arena_alloc(arena, capacity);
  if (!copy) return false;
  struct writer writer = {copy, copy + capacity};
  const struct csi_wire_reader reader = {*bytes, *bytes + *length};
  if (!put_message(&writer, list, message, reader, 1)) return false;
  *bytes = copy;
  *length = (size_t)(writer.at - copy);
  return true;
}

/* ---- Printing ---- */

enum {
  WORK_BYTES = 512 * 1024, /* a log line must not use up the memory of the call it is about */
};

struct arena_alloc {
  upb_alloc upb; /* first: upb hands this back */
  struct csi_arena *arena;
  size_t left_bytes;
};

/* upb's arena only asks for blocks and gives blocks back, it never has one resized. */
static void *allocate_block(upb_alloc *upb, void *block, size_t old_bytes, size_t size_bytes) {
  struct arena_alloc *alloc = (struct arena_alloc *)upb;
  (void)block;
  (void)old_bytes;
  if (size_bytes == 0 || size_bytes > alloc->left_bytes) return NULL;
  alloc->left_bytes -= size_bytes;
  return csi_arena_alloc(alloc->arena, size_bytes);
}

static const upb_Message *decode(upb_Arena *arena, const upb_MessageDef *definition, const uint8_t *bytes,
                                 size_t length) {
  const int options = kUpb_DecodeOption_AliasString | UPB_DECODE_MAXDEPTH(CSI_WIRE_MAX_DEPTH);
  upb_Message *message = upb_Message_New(definition, arena);
  if (!message) return NULL;
  if (upb_Decode((const char *)bytes, length, message, upb_MessageDef_MiniTable(definition), NULL, options,
                 arena) != kUpb_DecodeStatus_Ok)
    return NULL;
  return message;
}

static void cut(char *text) {
  const size_t limit = CSI_REQUEST_JSON_BYTES - sizeof ellipsis;
  const size_t kept = csi_utf8_cut(text, strnlen(text, CSI_REQUEST_JSON_BYTES - 1), limit);
  memcpy(text + kept, ellipsis, sizeof ellipsis);
}

static const char *print(struct csi_arena *arena, const upb_MessageDef *definition,
                         const upb_Message *message) {
  char *text = csi_arena_alloc(arena, CSI_REQUEST_JSON_BYTES);
  if (!text) return NULL;
  upb_Status status;
  upb_Status_Clear(&status);
  const size_t length = upb_JsonEncode(message, definition, NULL, upb_JsonEncode_UseProtoNames, text,
                                       CSI_REQUEST_JSON_BYTES, &status);
  if (length == SIZE_MAX || !upb_Status_IsOk(&status)) return NULL;
  if (length >= CSI_REQUEST_JSON_BYTES) cut(text);
  return text;
}

static const char *decode_and_print(struct csi_arena *arena, const upb_MessageDef *definition,
                                    const uint8_t *bytes, size_t length) {
  struct arena_alloc alloc = {{allocate_block}, arena, WORK_BYTES};
  upb_Arena *upb_arena = upb_Arena_Init(NULL, 0, &alloc.upb);
  if (!upb_arena) return NULL;
  const upb_Message *message = decode(upb_arena, definition, bytes, length);
  const char *text = message ? print(arena, definition, message) : NULL;
  upb_Arena_Free(upb_arena);
  return text;
}

const char *csi_request_json(struct csi_arena *arena, const struct csi_service_list *list,
                             const char *message_name, const uint8_t *bytes, size_t length) {
  if (length > CSI_REQUEST_JSON_INPUT_BYTES) {
    const char *text = csi_arena_printf(arena, "(request of %zu bytes is not shown)", length);
    return text ? text : cannot_be_shown;
  }
  const upb_DefPool *pool = pool_of(list);
  const upb_MessageDef *definition = pool ? upb_DefPool_FindMessageByName(pool, message_name) : NULL;
  if (!definition) return cannot_be_shown;
  const bool has_secrets = list->secret_fields && *list->secret_fields;
  if (has_secrets && length > 0 && !blank_secrets(arena, list, definition, &bytes, &length))
    return cannot_be_shown;
  const char *text = decode_and_print(arena, definition, bytes, length);
  return text ? text : cannot_be_shown;
}
