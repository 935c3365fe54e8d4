#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""finish_msi.py WIXL_MSI MSI PACKAGE_CODE: makes the MSI that is handed out of the one that wixl made.

It adds what cannot be said to wixl, and puts everything that wixl leaves to chance into an order: rows, the
package code, the times (SOURCE_DATE_EPOCH). Equal contents and package codes make equal files.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

HEADER_LINES = 3
# PID_REVNUMBER, PID_CREATE_DTM, PID_LASTSAVE_DTM of the summary.
PACKAGE_CODE, CREATED, SAVED = "9", "12", "13"
# Table, key, column, value.
CHANGES = [
    # wixl does not give each run the same sequence for an action that only says what it stands in front of.
    ("InstallExecuteSequence", "InstallService", 2, "6402"),
    ("InstallExecuteSequence", "RepairService", 2, "6403"),
    # Old products go first, so that their files are not in the way; their service stays and is upgraded.
    ("InstallExecuteSequence", "RemoveExistingProducts", 2, "1501"),
    ("InstallExecuteSequence", "UninstallService", 2, "1510"),
    # Set by FindRelatedProducts, and needed where the installation is carried out. Not FLAGS: see the .wxs.
    ("Property", "SecureCustomProperties", 1, "OLDERVERSION;NEWERVERSION"),
]


def msi(tool, *arguments):
    return subprocess.run([tool, *map(str, arguments)], check=True, capture_output=True,
                          env={**os.environ, "TZ": "UTC"}).stdout


def summary_change(key, package_code):
    moment = time.strftime("%Y/%m/%d %H:%M:%S", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    return {PACKAGE_CODE: "{" + package_code.upper() + "}", CREATED: moment, SAVED: moment}.get(key)


def changed(table, line, package_code):
    fields = line.split("\t")
    if table == "_SummaryInformation" and summary_change(fields[0], package_code):
        fields[1] = summary_change(fields[0], package_code)
    for name, key, column, value in CHANGES:
        if (name, key) == (table, fields[0]):
            fields[column] = value
    return "\t".join(fields)


def export(source, table, package_code):
    lines = msi("msiinfo", "export", source, table).decode("utf-8").replace("\r\n", "\n").split("\n")
    rows = [line for line in lines[HEADER_LINES:] if line]
    for name, key, _, _ in CHANGES:
        if name == table and not any(row.startswith(key + "\t") for row in rows):
            sys.exit(f"{source}: there is no {key} in {table}")
    rows = sorted(changed(table, row, package_code) for row in rows)
    return "\r\n".join(lines[:HEADER_LINES] + rows) + "\r\n"


def main():
    source, target, package_code = sys.argv[1:]
    tables = [t for t in msi("msiinfo", "tables", source).decode().split() if t != "_ForceCodepage"]
    arguments = []
    with tempfile.TemporaryDirectory() as directory:
        for table in sorted(tables):
            path = pathlib.Path(directory, table + ".idt")
            path.write_bytes(export(source, table, package_code).encode("utf-8"))
            arguments += ["-i", path]
        for stream in msi("msiinfo", "streams", source).decode().split():
            if stream.endswith("SummaryInformation"):
                continue
            path = pathlib.Path(directory, "stream-" + stream)
            path.write_bytes(msi("msiinfo", "extract", source, stream))
            arguments += ["-a", stream, path]
        pathlib.Path(target).unlink(missing_ok=True)
        msi("msibuild", target, *arguments)


if __name__ == "__main__":
    main()
