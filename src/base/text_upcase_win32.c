/* SPDX-License-Identifier: Apache-2.0 */
#include <windows.h>

#include "base/text.h"

/* In ntdll since Windows NT and documented for drivers; mingw's headers lack it.
 * UNVERIFIED ON WINDOWS: that it agrees with CompareStringOrdinal() for every unit. */
NTSYSAPI WCHAR NTAPI RtlUpcaseUnicodeChar(WCHAR unit);

uint16_t csi_utf16_upcase(uint16_t unit) {
  return unit < 0x80 ? (uint16_t)(unit >= 'a' && unit <= 'z' ? unit - 0x20 : unit)
                     : RtlUpcaseUnicodeChar(unit);
}
