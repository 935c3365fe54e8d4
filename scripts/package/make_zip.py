#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_zip.py DIRECTORY ZIP: the directory as a zip that depends on nothing but names, contents and
SOURCE_DATE_EPOCH."""

import os
import pathlib
import sys
import time
import zipfile


def main():
    directory, archive = pathlib.Path(sys.argv[1]), sys.argv[2]
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(directory.parent).as_posix(), moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o755 if path.suffix in (".exe", ".sh", ".ps1") else 0o644) << 16
            out.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    main()
