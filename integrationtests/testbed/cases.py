# SPDX-License-Identifier: Apache-2.0
"""What the tests on the testbed have in common: one testbed for all, reset before each test; independent
readers of partition tables; and the main program."""

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import testbed
from testbed import harness

TEST_S = 120
DEATHS_MAX = 3  # of the driver; there is no point in more

SETTINGS = argparse.Namespace()
BED = None


class TestbedTest(unittest.TestCase):
    """Each test begins without disks."""

    maxDiff = None
    limit_s = TEST_S
    _deaths = 0

    def setUp(self):
        signal.signal(signal.SIGALRM, self._too_long)
        signal.alarm(self.limit_s)
        self.addCleanup(signal.alarm, 0)
        self.bed = BED
        try:
            self.bed.reset()
        except testbed.Failed as error:
            print(f"the driver does not answer any more ({error}); a new session")
            TestbedTest._deaths += 1
            if self._deaths > DEATHS_MAX:
                sys.exit(f"the driver has died {self._deaths} times")
            self.bed.restart()
        for image in self.bed.images.iterdir():
            image.unlink()

    def _too_long(self, *_):
        raise AssertionError(f"the test took longer than {self.limit_s} s")

    def refused(self, command, *parts):
        """The command must fail with a text that has these parts."""
        with self.assertRaises(testbed.Failed) as caught:
            self.bed.command(command)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def show(self, number):
        """What Windows programs see of a disk."""
        for line in self.bed.command("show-disks"):
            words = testbed.parse_words(line)
            if words.get("number") == str(number):
                return words
        return self.fail(f"no disk {number} is listed")


# ---- Independent readers.


def _tool(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class _LoopDevice:
    """An image as a block device, which is how sgdisk learns that its sectors have 4096 bytes."""

    def __init__(self, image, sector_bytes):
        self._command = ("losetup", "--find", "--show", "--read-only", "--sector-size", str(sector_bytes),
                         str(image))

    def __enter__(self):
        code, text = _tool(*self._command)
        if code != 0:
            raise testbed.Failed(text.strip())
        self._device = text.strip()
        return self._device

    def __exit__(self, *_):
        _tool("losetup", "--detach", self._device)


class Partition:
    def __init__(self, number, first, last, code):
        self.number, self.first, self.last, self.code = number, first, last, code

    def __repr__(self):
        return f"{self.number}: {self.first}-{self.last} {self.code}"

    def __eq__(self, other):
        return repr(self) == repr(other)


def _sgdisk(*arguments):
    code, text = _tool("sgdisk", *arguments)
    if code != 0:
        raise AssertionError(f"sgdisk {' '.join(arguments)}: exit code {code}\n{text}")
    return text


def _verified(device):
    text = _sgdisk("--verify", device)
    # That a partition ends where the disk does is its owner's affair.
    complaints = re.sub(r"Caution: Partition \d+ doesn't end on a \d+-sector boundary\.[^.]*\.", "", text)
    if "No problems found" not in text or re.search(r"(?i)warning|caution|corrupt|problem:", complaints):
        raise AssertionError(f"sgdisk --verify finds fault:\n{text}")
    printed = _sgdisk("--print", device)
    rows = re.findall(r"^ +(\d+) +(\d+) +(\d+) +[\d.]+ \w+ +(\w+)", printed, re.MULTILINE)
    return [Partition(int(number), int(first), int(last), code) for number, first, last, code in rows]


def can_make_loop_devices():
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(1 << 20)
        try:
            with _LoopDevice(file.name, 4096):
                return True
        except (testbed.Failed, OSError):
            return False


def verify_gpt(image, sector_bytes=512):
    """The partitions (in sectors) that sgdisk sees in an image, which must be without fault."""
    if sector_bytes == 512:
        return _verified(str(image))
    if can_make_loop_devices():
        with _LoopDevice(image, sector_bytes) as device:
            return _verified(device)
    return _verified_by_fdisk(image, sector_bytes)


def _verified_by_fdisk(image, sector_bytes):
    """fdisk takes the sector size on its command line; it says less than sgdisk."""
    code, text = _tool("fdisk", "--bytes", "--sector-size", str(sector_bytes), "--list",
                       "-o", "Device,Start,End,Type", str(image))
    if code != 0 or "Disklabel type: gpt" not in text or re.search(r"(?i)corrupt|mismatch|error", text):
        raise AssertionError(f"fdisk finds fault:\n{text}")
    names = {"Microsoft basic data": "0700", "Microsoft reserved": "0C01", "EFI System": "EF00"}
    rows = re.findall(re.escape(str(image)) + r"(\d+) +(\d+) +(\d+) +(.+)", text)
    return [Partition(int(number), int(first), int(last), names.get(kind.strip(), kind.strip()))
            for number, first, last, kind in rows]


def read_mbr(image):
    """The partitions that sfdisk sees: [(start, size, type)]."""
    code, text = _tool("sfdisk", "--dump", str(image))
    if code != 0 or "label: dos" not in text:
        raise AssertionError(f"sfdisk finds no MBR:\n{text}")
    return [(int(start), int(size), kind)
            for start, size, kind in re.findall(r"start= *(\d+), size= *(\d+), type=(\w+)", text)]


# ---- The program.


def table(title, heads, rows):
    """Prints a table."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in [list(heads)] + rows) for i in range(len(heads))]
    print(f"\n{title}")
    for row in [list(heads)] + rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    print(flush=True)


def main(module, add_arguments=lambda parser: None):
    """Runs the tests of a module; ends with 0 when something passed and nothing failed."""
    global BED
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", help="the Windows build (build/windows-release)")
    add_arguments(parser)
    parser.add_argument("tests", nargs="*", metavar="CLASS.test")
    arguments = parser.parse_args()
    SETTINGS.__dict__.update(vars(arguments))
    missing = [tool for tool in ("sgdisk", "sfdisk", "fdisk") if shutil.which(tool) is None]
    if missing:
        sys.exit(f"error: {', '.join(missing)} missing: run scripts/setup.sh")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    loader = unittest.defaultTestLoader
    names = arguments.tests
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    try:
        with testbed.Testbed(arguments.build) as bed:
            BED = bed
            passed = harness.run_suite(suite)
    except testbed.Failed as error:
        sys.exit(f"error: {error}")
    sys.exit(0 if passed else 1)
