/* SPDX-License-Identifier: Apache-2.0
 *
 * The class MSFT_SmbGlobalMapping, on the shares of the testbed's network.
 */
#ifndef CSI_TESTBED_MI_MAPPING_CLASS_H
#define CSI_TESTBED_MI_MAPPING_CLASS_H

#include "operation.h"

/* Every call ends after timeout_ms, and is then a failure. name_space_w may be NULL. */
struct mi_outcome mi_mapping_query(const wchar_t *name_space_w, const wchar_t *dialect_w,
                                   const wchar_t *query_w, uint32_t timeout_ms);
struct mi_outcome mi_mapping_get_class(const wchar_t *name_space_w, const wchar_t *class_w,
                                       uint32_t timeout_ms);

/* Create, of the class, or Remove, of an instance. */
struct mi_outcome mi_mapping_invoke(const wchar_t *name_space_w, const wchar_t *class_w,
                                    const wchar_t *method_w, const MI_Instance *instance,
                                    const MI_Instance *parameters, uint32_t timeout_ms);

#endif
