# SPDX-License-Identifier: Apache-2.0
"""Runs csi-proxy.exe and helper programs under Wine for the life-cycle tests.

Every test gets its own pipe prefix and service name, every wait has a limit, and everything a test
started is gone when it ends, however it ends.
"""

import itertools
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
WINE = str(REPOSITORY / "scripts" / "wine.sh")

WAIT_S = 30  # for anything that should take well under a second
TEST_S = 120  # for a whole test

_numbers = itertools.count(1)


class Settings:
    """Set by main(): the programs under test, in Unix paths."""

    exe = ""
    testtool = ""


def unique(name):
    """A name no other test and no other run uses."""
    return f"{name}-{os.getpid()}-{next(_numbers)}"


def windows_path(unix_path):
    """How a Windows program sees a Unix path: Wine maps / to drive Z."""
    return "Z:" + str(unix_path).replace("/", "\\")


class Finished:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


def run(*command, timeout_s=WAIT_S):
    """Runs a Windows program to its end."""
    done = subprocess.run([WINE, *command], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=timeout_s, check=False)
    return Finished(done.returncode, _text(done.stdout), _text(done.stderr))


def testtool(*arguments, timeout_s=WAIT_S):
    done = run(Settings.testtool, *arguments, timeout_s=timeout_s)
    if done.code != 0:
        raise AssertionError(f"testtool {' '.join(arguments)}: {done}")
    return done.out.strip()


def _text(raw):
    return raw.decode("utf-8", "replace").replace("\r\n", "\n")


class Running:
    """A Windows program that runs beside the test. Its output is collected line by line."""

    def __init__(self, *command):
        self.process = subprocess.Popen([WINE, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)
        self.lines = []
        self._arriving = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._arriving.put(_text(line).rstrip("\n"))
        self._arriving.put(None)

    def wait_for_line(self, part, timeout_s=WAIT_S):
        """Waits for a line that contains part and returns it."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                line = self._arriving.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no \"{part}\" within {timeout_s} s, only:\n{self.text()}") from None
            if line is None:
                raise AssertionError(f"ended without \"{part}\", after:\n{self.text()}")
            self.lines.append(line)
            if part in line:
                return line

    def wait(self, timeout_s=WAIT_S):
        """Waits for the end and returns the exit code; collects the rest of the output."""
        code = self.process.wait(timeout_s)
        self._reader.join(WAIT_S)
        while True:
            line = self._arriving.get_nowait()
            if line is None:
                return code
            self.lines.append(line)

    def collect(self):
        """Takes over the lines that have arrived by now."""
        while True:
            try:
                line = self._arriving.get_nowait()
            except queue.Empty:
                return
            if line is None:
                self._arriving.put(None)
                return
            self.lines.append(line)

    def interrupt(self):
        """Ctrl-C: Wine makes a console control event of SIGINT."""
        self.process.send_signal(signal.SIGINT)

    def send_line(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end_input(self):
        self.process.stdin.close()

    def text(self):
        return "\n".join(self.lines)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class WineTest(unittest.TestCase):
    """Gives each test its own names and puts everything away behind it."""

    maxDiff = None

    def setUp(self):
        self.prefix = "\\\\.\\pipe\\" + unique("csi-test") + "-"
        signal.signal(signal.SIGALRM, self._too_long)
        signal.alarm(TEST_S)
        self.addCleanup(signal.alarm, 0)

    def _too_long(self, *_):
        raise AssertionError(f"the test took longer than {TEST_S} s")

    def start(self, *command):
        running = Running(*command)
        self.addCleanup(running.kill)
        return running

    def helper(self, *arguments, ready):
        """Starts testtool and waits until it says that it is ready."""
        tool = self.start(Settings.testtool, *arguments)
        tool.wait_for_line(ready)
        return tool

    def daemon(self, *flags, ready=True):
        daemon = self.start(Settings.exe, "-pipe-prefix=" + self.prefix, *flags)
        if ready:
            daemon.wait_for_line("] Serving ")
        return daemon

    def pipe(self, name="filesystem-v1"):
        return self.prefix + name


class _Result(unittest.TestResult):
    """One line a test; the reasons of skips and failures with it."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self._begun = 0.0

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()

    def _line(self, word, test, detail=""):
        name = test.id().removeprefix("__main__.")
        print(f"{word:4} {name} ({time.monotonic() - self._begun:.1f} s){detail}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self._line("ok", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line("FAIL", test, "\n" + self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self._line("FAIL", test, "\n" + self.errors[-1][1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            kept = self.failures if issubclass(err[0], test.failureException) else self.errors
            self._line("FAIL", subtest, "\n" + kept[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line("skip", test, ": " + reason)


def main(module):
    """harness.main(): EXE TESTTOOL [TEST...]. Ends with 0 when something passed and nothing failed."""
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} CSI_PROXY_EXE TESTTOOL_EXE [CLASS.test ...]")
    Settings.exe, Settings.testtool = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
    for program in (Settings.exe, Settings.testtool):
        if not os.path.exists(program):
            sys.exit(f"there is no {program}: build it first")
    subprocess.run([WINE, "--prepare"], check=True)
    loader = unittest.defaultTestLoader
    names = sys.argv[3:]
    suite = loader.loadTestsFromNames(names, module) if names else loader.loadTestsFromModule(module)
    # Wine ends its session, and the services in it, a moment after the last ordinary program has ended.
    holder = Running(Settings.testtool, "hold")
    try:
        holder.wait_for_line("holding")
        passed = run_suite(suite)
    finally:
        holder.kill()
    sys.exit(0 if passed else 1)


def run_suite(suite):
    """Runs and reports; True when something passed and nothing failed."""
    result = _Result()
    suite.run(result)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed == 0 and result.passed > 0
