/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptor set to model.
 */
#ifndef CSI_CODEGEN_LOAD_H
#define CSI_CODEGEN_LOAD_H

#include "codegen/model.h"

/* Reads a FileDescriptorSet that protoc wrote with --include_imports and --include_source_info, and
 * fills group->neutral, listed_versions, versions (in the order of the files) and descriptor_set.
 * group->arena and group->name must be set. False after printing why. */
bool gen_load(struct gen_group *group, const char *path);

#endif
