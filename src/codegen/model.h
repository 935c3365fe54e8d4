/* SPDX-License-Identifier: Apache-2.0
 *
 * What the generator knows of one API group: the version-agnostic ("neutral") API of group.proto, the
 * released versions, and how every item of a version maps onto a neutral one.
 * Filled in three steps: load.c reads the descriptors, resolve.c maps versions onto the neutral API and
 * check.c refuses what must not be; the emitters only read. Everything lives in one memory region that
 * is freed at the end of the run.
 */
#ifndef CSI_CODEGEN_MODEL_H
#define CSI_CODEGEN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gen_kind {
  GEN_DOUBLE,
  GEN_FLOAT,
  GEN_INT64,
  GEN_UINT64,
  GEN_INT32,
  GEN_FIXED64,
  GEN_FIXED32,
  GEN_BOOL,
  GEN_STRING,
  GEN_GROUP, /* proto2 only; refused */
  GEN_MESSAGE,
  GEN_BYTES,
  GEN_UINT32,
  GEN_ENUM,
  GEN_SFIXED32,
  GEN_SFIXED64,
  GEN_SINT32,
  GEN_SINT64,
};

enum gen_lane { GEN_LANE_NONE, GEN_LANE_INLINE, GEN_LANE_SHORT, GEN_LANE_LONG };

/* A growing array of pointers. */
struct gen_list {
  void **items;
  size_t count;
};

struct gen_alias {
  struct gen_list versions; /* of const char * */
  const char *name;
  const char *error_prefix; /* "" when there is none */
};

/* "<version>.<Message>" or "<version>.<Message>.<field>" of an annotation. */
struct gen_reference {
  const char *text;
  bool used;
};

struct gen_message;

struct gen_field {
  const char *name;   /* as in the proto */
  const char *snake;  /* member of the neutral structure */
  const char *c_name; /* member of protoc-c's structure */
  const char *doc;    /* NULL without a comment */
  uint32_t number;
  enum gen_kind kind;
  bool repeated;               /* also true for a map */
  bool oneof;                  /* member of a oneof, or `optional` */
  bool unpacked;               /* [packed = false] */
  struct gen_message *message; /* GEN_MESSAGE; for a map the entry, with fields key and value */
  struct gen_enum *enumeration;
  struct gen_message *owner;
  /* group.proto only */
  struct gen_list aliases; /* of struct gen_alias * */
  uint32_t max_bytes;      /* 0: not annotated */
  uint32_t max_count;
  bool secret;
  /* versions only */
  struct gen_field *neutral;
  bool dropped;
};

struct gen_message {
  const char *name;     /* "PathExistsRequest"; of a map entry "M.XEntry" */
  const char *snake;    /* "path_exists_request" */
  const char *c_struct; /* protoc-c's structure, "V1__PathExistsRequest" */
  const char *c_prefix; /* protoc-c's functions, "v1__path_exists_request" */
  const char *doc;
  struct gen_list fields; /* ascending numbers */
  struct gen_file *file;
  bool map_entry;
  bool nests_types; /* declares messages or enums inside, other than map entries */
  bool extensions;
  bool in_request; /* reachable from the request of an RPC */
  bool on_walk;    /* for the search for recursion */
  /* group.proto only */
  struct gen_list aliases;
  struct gen_list dropped; /* of struct gen_reference * */
  struct gen_list by_hand;
  /* versions only */
  struct gen_message *neutral;
  bool hand_written; /* its conversions are hand-written functions */
  bool excused;      /* needs no counterpart: only used by dropped fields or in hand-written conversions */
};

struct gen_enum_value {
  const char *name;
  const char *doc;
  int32_t number;
};

struct gen_enum {
  const char *name;
  const char *snake;
  const char *doc;
  const char *c_type; /* protoc-c's, "V1__PathContext" */
  struct gen_list values;
  struct gen_file *file;
  bool excused;
  struct gen_enum *neutral;
};

struct gen_rpc {
  const char *name;
  const char *snake;
  const char *doc;
  struct gen_message *request; /* NULL: defined in another file; refused */
  struct gen_message *response;
  bool streaming;
  /* group.proto only */
  enum gen_lane lane;
  bool mutating;
  struct gen_list aliases;
  size_t index;
  /* versions only */
  struct gen_rpc *neutral;
  const char *error_prefix;
};

/* One proto file: group.proto or a version. */
struct gen_file {
  const char *name;    /* "filesystem/v1/api.proto" */
  const char *package; /* "v1" */
  const char *version; /* from the folder; NULL for group.proto */
  const char *service; /* "Filesystem"; "" without a service */
  const char *service_doc;
  bool proto3;
  size_t import_count;
  size_t service_count;
  size_t extension_count;
  struct gen_list messages; /* top level, in order of declaration; map entries only through fields */
  struct gen_list enums;
  struct gen_list rpcs;
};

struct gen_group {
  struct gen_arena *arena;
  const char *name;                /* "filesystem" */
  const char *label;               /* put before file names in messages, "proto/" */
  struct gen_file *neutral;        /* NULL when group.proto is missing */
  struct gen_list listed_versions; /* of const char *, from the option */
  struct gen_list versions;        /* of struct gen_file *, in listed order once resolved */
  const uint8_t *descriptor_set;   /* of the versions only, with their comments */
  size_t descriptor_set_bytes;
};

/* --- memory: one region a run; running out of it ends the process with a message */
struct gen_arena;
struct gen_arena *gen_arena_new(void);
void gen_arena_free(struct gen_arena *arena);
void *gen_alloc(struct gen_arena *arena, size_t size_bytes); /* zeroed */
char *gen_strndup(struct gen_arena *arena, const char *text, size_t length_bytes);
char *gen_printf(struct gen_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void gen_push(struct gen_arena *arena, struct gen_list *list, const void *item);

/* for (GEN_EACH(struct gen_field, field, &message->fields)) ...; break and continue work. */
#define GEN_EACH(type, variable, list)                                                                       \
  size_t variable##_at = 0, variable##_go = 1;                                                               \
  variable##_go &&variable##_at < (list)->count;                                                             \
  variable##_at++) for (type *variable = (variable##_go = 0, (list)->items[variable##_at]); !variable##_go;  \
                        variable##_go = 1

/* --- names */
/* "ListDiskIDsRequest" -> "list_disk_ids_request", "GetBIOSSerialNumber" -> "get_bios_serial_number". */
const char *gen_snake(struct gen_arena *arena, const char *name);
const char *gen_upper(struct gen_arena *arena, const char *text);
/* The names that protoc-c gives to the C counterparts of a proto name. */
const char *gen_pbc_lower(struct gen_arena *arena, const char *full_name);
const char *gen_pbc_type(struct gen_arena *arena, const char *full_name);
const char *gen_pbc_field(struct gen_arena *arena, const char *name);
bool gen_is_keyword(const char *name); /* of C or C++ */

/* --- look-up; NULL when there is none */
struct gen_message *gen_find_message(const struct gen_file *file, const char *name);
struct gen_field *gen_find_field(const struct gen_message *message, const char *name);
struct gen_rpc *gen_find_rpc(const struct gen_file *file, const char *name);
struct gen_enum *gen_find_enum(const struct gen_file *file, const char *name);
struct gen_file *gen_find_version(const struct gen_group *group, const char *version);
/* The alias that applies to a version. */
struct gen_alias *gen_alias_for(const struct gen_list *aliases, const char *version);
/* Counterpart of a neutral field in a versioned message. */
struct gen_field *gen_counterpart(const struct gen_message *versioned, const struct gen_field *neutral);

static inline bool gen_is_map(const struct gen_field *field) {
  return field->message != NULL && field->message->map_entry;
}

/* "string", "repeated uint32", "map<uint32, DiskLocation>". */
const char *gen_type_text(struct gen_arena *arena, const struct gen_field *field);

/* Version names: v<major>, v<major>alpha<n>, v<major>beta<n>. */
struct gen_version_parts {
  unsigned long major;
  int stage; /* 0 alpha, 1 beta, 2 stable */
  unsigned long qualifier;
};
bool gen_version_parse(const char *text, struct gen_version_parts *parts_out);
int gen_version_compare_age(const char *a, const char *b); /* negative when a is the older one */
/* Versions in the order in which a client tries them: stable, beta, alpha; newest first in each. */
struct gen_list gen_versions_by_preference(const struct gen_group *group);

#endif
