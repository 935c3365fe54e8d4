#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All Go programs against the service on the disk testbed, under Wine.

    run_testbed.py [--build DIR] [PART...]

Parts, in this order unless some are named:
    shipped   every published Go client against the shipped executable, which has no links under Wine
    links     the newest client against the executable with emulated links and mounted folders
    flows     what the CSI drivers do, interrupted after each call, against that executable

Ends with "N passed, N failed, N skipped"; the exit code is 1 when something failed.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "testbed"))

import testbed  # noqa: E402

PIPES = testbed.PIPES + "csi-proxy-"  # the Go clients know these names only
PART_S = 900
TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")


def say(text):
    print(f"\n==> {text}", flush=True)


class Part:
    """Runs programs, shows what they print, and adds up what they counted."""

    def __init__(self):
        self.totals = [0, 0, 0]

    def run(self, name, command, environment):
        say(name)
        begun = list(self.totals)
        child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        try:
            output, _ = child.communicate(timeout=PART_S)
        except subprocess.TimeoutExpired:
            child.kill()
            output, _ = child.communicate()
            print(f"FAIL {name}: not finished after {PART_S} s")
        lines = output.decode("utf-8", "replace").replace("\r", "").splitlines()
        for line in lines:
            self._line(line)
        if self.totals == begun or child.returncode != 0 and self.totals[1] == begun[1]:
            print(f"FAIL {name}: ended early, with exit code {child.returncode}")
            self.totals[1] += 1
        sys.stdout.flush()

    def _line(self, line):
        counted = TOTALS.match(line)
        if counted:
            self.totals = [have + int(more) for have, more in zip(self.totals, counted.groups())]
        elif line.startswith("SKIP "):
            print("skipped: " + line.removeprefix("SKIP "))
        elif not line.startswith("PASS "):
            print(line)


def environment(bed):
    return dict(bed.environment, CSI_TESTBED_IMAGES=testbed.windows_path(bed.images),
                CSI_TESTBED_CONTROL=testbed.windows_path(bed.build.control))


def clients(bed, part, programs, name, exe, which, *flags):
    with bed.daemon(exe, prefix=PIPES) as daemon:
        before = part.totals[1]
        part.run(f"Go clients: {name}", [str(HERE / "run.sh"), "--clients", which, str(programs), *flags],
                 environment(bed))
        part.run(f"health and reflection: {name}",
                 [testbed.harness.WINE, str(programs / "introspection.exe")], environment(bed))
        if part.totals[1] > before:
            print("the service said at last:\n" + "\n".join(daemon.log()[-20:]))


def flows(bed, part, programs):
    part.run("driver flows", [testbed.harness.WINE, str(programs / "flows.exe"),
                              "-service", testbed.windows_path(bed.build.with_links),
                              "-profiles", testbed.windows_path(testbed.HERE / "profiles")],
             environment(bed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", help="the Windows build (build/windows-release)")
    parser.add_argument("parts", nargs="*", metavar="PART")
    arguments = parser.parse_args()
    parts = arguments.parts or ["shipped", "links", "flows"]
    part = Part()
    try:
        with testbed.Testbed(arguments.build) as bed:
            programs = bed.build.directory / "integrationtests" / "go"
            # As for a service: a path without a drive is one on drive C.
            os.chdir(bed.prefix / "drive_c")
            shutil.copy(programs / "bcryptprimitives.dll", bed.prefix / "drive_c" / "windows" / "system32")
            for name in parts:
                if name == "shipped":
                    clients(bed, part, programs, "shipped executable", bed.build.shipped, "current minimum oldest",
                            "-no-links")
                elif name == "links":
                    clients(bed, part, programs, "executable with emulated links", bed.build.with_links, "current",
                            "-emulated-links")
                elif name == "flows":
                    flows(bed, part, programs)
                else:
                    sys.exit(f"there is no part {name}")
    except testbed.Failed as error:
        print(f"FAIL testbed: {error}")
        part.totals[1] += 1
    print("{} passed, {} failed, {} skipped".format(*part.totals))
    sys.exit(0 if part.totals[1] == 0 and part.totals[0] > 0 else 1)


if __name__ == "__main__":
    main()
