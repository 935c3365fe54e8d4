/* SPDX-License-Identifier: Apache-2.0
 *
 * Instances as mi.dll hands them out: elements with names. Strings are copied, unless they are borrowed.
 */
#ifndef CSI_TESTBED_MI_INSTANCE_H
#define CSI_TESTBED_MI_INSTANCE_H

#include <stdbool.h>

#include "smb/mi_api_win32.h"

/* For the slots of tables that nobody needs. */
MI_Result MI_CALL mi_unsupported(void);

/* Makes an instance without elements; NULL when memory is short. To be freed with its Delete(). */
MI_Instance *mi_instance_new(void);

/* Frees the instance; NULL is accepted. */
void mi_instance_delete(MI_Instance *instance);

/* Add elements; instance may be NULL: memory was short before. False when it is, or becomes so. */
bool mi_instance_add_number(MI_Instance *instance, const wchar_t *name_w, uint32_t number);
bool mi_instance_add_text(MI_Instance *instance, const wchar_t *name_w, const wchar_t *text_w);

/* How many elements there are. */
size_t mi_instance_count(const MI_Instance *instance);

/* The value of an element of this type; NULL when there is none. instance may be NULL. */
const MI_Value *mi_instance_value(const MI_Instance *instance, const wchar_t *name_w, MI_Type type);

#endif
