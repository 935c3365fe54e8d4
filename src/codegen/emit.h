/* SPDX-License-Identifier: Apache-2.0
 *
 * The files made for one group. Every emitter reads a model that passed all checks, and appends whole
 * files to a directory; false after printing why it could not write.
 */
#ifndef CSI_CODEGEN_EMIT_H
#define CSI_CODEGEN_EMIT_H

#include "codegen/model.h"
#include "codegen/out.h"

/* include/csi-proxy/<group>.h: structures, enums, stubs. Public and installed. */
bool gen_emit_types(const struct gen_group *group, const char *directory);

/* <group>/handlers.h: what people implement. */
bool gen_emit_handlers(const struct gen_group *group, const char *directory);

/* <group>/convert_<version>.h and .c: versioned messages from and to neutral structures. */
bool gen_emit_convert(const struct gen_group *group, const char *directory);

/* <group>/wire.h and wire.c: what an encoded message may hold. */
bool gen_emit_wire(const struct gen_group *group, const char *directory);

/* <group>/descriptors.h and descriptors.c: what is known of the messages at run time. */
bool gen_emit_descriptors(const struct gen_group *group, const char *directory);

/* <group>/services.h and dispatch.c: what the server runs from. */
bool gen_emit_dispatch(const struct gen_group *group, const char *directory);

/* <group>/client_group.h and client.c: the stubs. */
bool gen_emit_client(const struct gen_group *group, const char *directory);

/* docs/<group>.md: API reference. */
bool gen_emit_docs(const struct gen_group *group, const char *directory);

/* --- names in the C that is made */

/* "csi_filesystem_path_exists_request", without `struct`. */
const char *gen_struct_name(const struct gen_group *group, const struct gen_message *neutral);
/* "csi_disk_list_disk_ids_response_disk_ids_entry": one entry of a map. */
const char *gen_entry_name(const struct gen_group *group, const struct gen_field *map);
/* "csi_system_service_status", without `enum`. */
const char *gen_enum_name(const struct gen_group *group, const struct gen_enum *enumeration);
/* "csi_filesystem_v1_path_exists_request": conversions are this plus _from_wire or _to_wire, tables _wire. */
const char *gen_versioned_name(const struct gen_group *group, const struct gen_message *message);
/* "csi_filesystem_serve_mkdir" */
const char *gen_handler_name(const struct gen_group *group, const struct gen_rpc *rpc);
/* C type of one value of a neutral field, with room for a name: "uint32_t ", "const char *". */
const char *gen_value_type(const struct gen_group *group, const struct gen_field *field);

/* Prototype of a conversion without semicolon. */
void gen_put_conversion(struct gen_out *output, const struct gen_group *group,
                        const struct gen_message *message, bool from_wire);

/* "v1, v1beta2; as LinkPath in v1beta1, v1alpha1": where an RPC exists, in order of preference. */
const char *gen_rpc_versions(const struct gen_group *group, const struct gen_rpc *neutral);
/* The versioned RPC, NULL when the version lacks it. */
const struct gen_rpc *gen_rpc_in(const struct gen_file *version, const struct gen_rpc *neutral);
/* Versions that have the message but not this field: "v1alpha1, v1beta1"; NULL when there is none. */
const char *gen_field_absent(const struct gen_group *group, const struct gen_field *neutral);
/* The comment of a field and what the annotations add to it. */
const char *gen_field_doc(const struct gen_group *group, const struct gen_field *neutral);
/* The comment of a message, or which RPC it belongs to. */
const char *gen_message_doc(const struct gen_group *group, const struct gen_message *neutral);
bool gen_has_secret(const struct gen_message *message);
bool gen_uses_bytes(const struct gen_group *group);

#endif
