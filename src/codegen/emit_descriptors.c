/* SPDX-License-Identifier: Apache-2.0 */
#include "codegen/emit.h"

static bool emit_header(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  const char *guard =
      gen_printf(group->arena, "CSI_GEN_%s_DESCRIPTORS_H", gen_upper(group->arena, group->name));
  gen_put_banner(&output, group, gen_printf(group->arena, "The descriptors of the %s group.", group->name));
  gen_put(&output, "#ifndef %s\n#define %s\n\n#include <stdint.h>\n\n", guard, guard);
  gen_put_comment(&output, 0,
                  "Serialized google.protobuf.FileDescriptorSet of every version. Of the source it keeps the "
                  "comments.");
  gen_put(&output, "extern const uint8_t csi_%s_descriptor_set[%zu];\n\n", group->name,
          group->descriptor_set_bytes);
  gen_put_comment(
      &output, 0,
      "Fields that nobody may show, for example \"v1.NewThingRequest.password\". NULL-terminated.");
  gen_put(&output, "extern const char *const csi_%s_secret_fields[];\n\n#endif\n", group->name);
  return gen_save(&output, directory, gen_printf(group->arena, "%s/descriptors.h", group->name));
}

static void put_descriptor_set(struct gen_out *output, const struct gen_group *group) {
  gen_put(output, "const uint8_t csi_%s_descriptor_set[%zu] = {", group->name, group->descriptor_set_bytes);
  for (size_t i = 0; i < group->descriptor_set_bytes; i++)
    gen_put(output, "%s0x%02x,", i % 16 == 0 ? "\n    " : " ", group->descriptor_set[i]);
  gen_put(output, "\n};\n\n");
}

/* A secret map has its entries blanked as a whole. */
static void put_secrets(struct gen_out *output, const struct gen_group *group) {
  gen_put(output, "const char *const csi_%s_secret_fields[] = {\n", group->name);
  for (GEN_EACH(struct gen_file, file, &group->versions))
    for (GEN_EACH(struct gen_message, message, &file->messages))
      for (GEN_EACH(struct gen_field, field, &message->fields))
        if (field->neutral != NULL && field->neutral->secret)
          gen_put(output, "    \"%s.%s.%s\",\n", file->version, message->name, field->name);
  gen_put(output, "    0,\n};\n");
}

bool gen_emit_descriptors(const struct gen_group *group, const char *directory) {
  struct gen_out output = {0};
  gen_put_banner(&output, group, gen_printf(group->arena, "Descriptors of the %s group.", group->name));
  gen_put(&output, "#include \"%s/descriptors.h\"\n\n", group->name);
  put_descriptor_set(&output, group);
  put_secrets(&output, group);
  bool saved = gen_save(&output, directory, gen_printf(group->arena, "%s/descriptors.c", group->name));
  return emit_header(group, directory) && saved;
}
