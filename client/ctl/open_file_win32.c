/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <windows.h>

#include "client/ctl/read_file.h"

enum { PATH_UNITS = 32768 };

FILE *csi_ctl_open_file(const char *path) {
  static wchar_t path_w[PATH_UNITS];
  if (path == NULL) {
    _setmode(_fileno(stdin), _O_BINARY);
    return stdin;
  }
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, path_w, PATH_UNITS))
    return _wfopen(path_w, L"rb");
  errno = EINVAL;
  return NULL;
}
