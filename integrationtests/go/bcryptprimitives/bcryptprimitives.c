/* SPDX-License-Identifier: Apache-2.0
 *
 * bcryptprimitives.dll for a Wine that lacks it (before 10): every program built by Go 1.22 or later
 * imports ProcessPrng from it. For tests only; Windows has its own.
 */
#include <windows.h>

#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size_bytes);

BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size_bytes) {
  while (size_bytes > 0) {
    ULONG chunk_bytes = size_bytes > 1U << 30 ? 1U << 30 : (ULONG)size_bytes;
    if (!RtlGenRandom(data, chunk_bytes)) {
      return FALSE;
    }
    data += chunk_bytes;
    size_bytes -= chunk_bytes;
  }
  return TRUE;
}
