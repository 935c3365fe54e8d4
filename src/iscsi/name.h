/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of iSCSI targets: iqn.2004-10.com.example:disk1, eui.02004567A425678D, naa.52004567BA64678D. Pure
 * functions.
 */
#ifndef CSI_ISCSI_NAME_H
#define CSI_ISCSI_NAME_H

#include <stdbool.h>

#include "iscsi/host.h"

/* NULL, or what is wrong with a name that a request gives: a literal for people. Refused is only what is too
 * long, empty, or has blanks or control characters in it; the initiator knows its targets best. */
const char *csi_iscsi_name_problem(const char *name);

/* True when the name begins as iSCSI names do. */
bool csi_iscsi_name_is_usual(const char *name);

/* Compares without regard to case (ASCII): initiators and targets put names into lower case before they
 * compare them (RFC 7143, 4.2.7). Other letters come in lower case from the target. */
bool csi_iscsi_name_is_equal(const char *a, const char *b);

/* Writes the name in the form that is the same for all spellings. name: shorter than CSI_ISCSI_NAME_BYTES. */
void csi_iscsi_name_key(const char *name, char key_out[CSI_ISCSI_NAME_BYTES]);

/* Puts ASCII letters into lower case. */
void csi_iscsi_to_lower(char *text);

#endif
