#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""csi-proxy.exe from start to end: flags, console, service manager. Usage: see harness.main()."""

import os
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import harness  # noqa: E402
from harness import Settings, WineTest, run, testtool, unique, windows_path

VERSIONS = {
    "disk": ["v1", "v1alpha1", "v1beta1", "v1beta2", "v1beta3"],
    "filesystem": ["v1", "v1alpha1", "v1beta1", "v1beta2", "v2alpha1"],
    "iscsi": ["v1alpha1", "v1alpha2"],
    "smb": ["v1", "v1alpha1", "v1beta1", "v1beta2"],
    "system": ["v1alpha1"],
    "volume": ["v1", "v1alpha1", "v1beta1", "v1beta2", "v1beta3", "v2alpha1"],
}
PIPES = [f"{group}-{version}" for group, versions in VERSIONS.items() for version in versions]

EXIT_CONFIG = 2
EXIT_START = 3
ERROR_SERVICE_SPECIFIC_ERROR = 1066
SERVICE_ACCEPT_STOP_SHUTDOWN_PRESHUTDOWN = 0x105


class Flags(WineTest):
    def test_version(self):
        done = run(Settings.exe, "-version")
        self.assertEqual(done.code, 0, done)
        self.assertRegex(done.out, r"^csi-proxy v\d+\.\d+\.\d+ \(.+\)\n$")
        self.assertEqual(done.err, "")

    def test_help(self):
        for flag in ["-help", "-h", "--help"]:
            done = run(Settings.exe, flag)
            self.assertEqual(done.code, 0, done)
            self.assertIn("Usage of csi-proxy:", done.err)
            self.assertIn("-kubelet-path", done.err)
            self.assertIn("-log_file", done.err)

    def test_unknown_flag_and_stray_argument_are_refused(self):
        for argument, reason in [("-no-such-flag", "flag provided but not defined: -no-such-flag"),
                                 ("stray", "argument is not a flag: stray"),
                                 ("-windows-service=maybe", "windows-service")]:
            done = run(Settings.exe, argument)
            self.assertEqual(done.code, EXIT_CONFIG, done)
            self.assertIn(reason, done.err)
            self.assertIn("Usage of csi-proxy:", done.err)

    def test_arguments_are_unicode(self):
        done = run(Settings.exe, "-stray-ä€𝄞")
        self.assertEqual(done.code, EXIT_CONFIG, done)
        self.assertIn("-stray-ä€𝄞", done.err)

    def test_check_config_accepts(self):
        done = run(Settings.exe, "-check-config", "-pipe-prefix=" + self.prefix, "-working-dir=D:\\data",
                   "-kubelet-path=C:\\windows", "-pipe-sddl=D:(A;;GA;;;SY)")
        self.assertEqual(done.code, 0, done)
        self.assertIn("working directory: D:\\data\nworking directory: C:\\windows\n", done.out)
        self.assertTrue(done.out.endswith("configuration is valid\n"), done)
        self.assertNotIn("warning", done.out)

    def test_check_config_remarks_on_a_missing_kubelet_directory(self):
        done = run(Settings.exe, "-check-config", "-kubelet-path=C:\\no\\such\\directory")
        self.assertEqual(done.code, 0, done)
        self.assertIn("warning: -kubelet-path: there is no directory C:\\no\\such\\directory yet", done.out)

    def test_check_config_refuses(self):
        for flag in ["-kubelet-path=", "-kubelet-path=relative\\path", "-working-dir=\\\\server\\share",
                     "-pipe-sddl=D:(A;;GA;;;ZZ)", "-pipe-sddl=", "-pipe-sddl=O:SY",
                     "-pipe-prefix=C:\\not\\a\\pipe"]:
            with self.subTest(flag):
                done = run(Settings.exe, "-check-config", flag)
                self.assertEqual(done.code, EXIT_CONFIG, done)
                self.assertIn("configuration is not valid: ", done.out)

    def test_what_check_config_refuses_does_not_start(self):
        for flag in ["-kubelet-path=relative\\path", "-pipe-sddl=D:(A;;GA;;;ZZ)"]:
            with self.subTest(flag):
                daemon = self.daemon(flag, ready=False)
                self.assertEqual(daemon.wait(), EXIT_CONFIG, daemon.text())
                self.assertEqual(testtool("probe", self.pipe()), "absent")


class Console(WineTest):
    def assert_pipes(self, state):
        for name in PIPES:
            self.assertEqual(testtool("probe", self.pipe(name)), state, name)

    def test_ctrl_c_ends_it_and_it_can_start_again_at_once(self):
        self.assert_pipes("absent")
        for _ in range(2):
            daemon = self.daemon()
            self.assert_pipes("open")
            daemon.interrupt()
            self.assertEqual(daemon.wait(), 0, daemon.text())
            self.assert_pipes("absent")
        for part in ["] Starting CSI-Proxy Server ...", "] Version: v", "] Working directories: [C:\\",
                     "] Require privacy: true", f"] Serving {len(PIPES)} API versions on ",
                     "] Interrupted (Ctrl-C)", "] CSI-Proxy Server has stopped"]:
            self.assertIn(part, daemon.text())

    def test_a_silent_connection_does_not_delay_the_end(self):
        daemon = self.daemon()
        self.helper("connect", self.pipe(), ready="connected")
        begun = time.monotonic()
        daemon.interrupt()
        self.assertEqual(daemon.wait(), 0, daemon.text())
        self.assertLess(time.monotonic() - begun, 5)

    def test_a_call_under_way_is_answered_after_ctrl_c(self):
        daemon = self.daemon("-working-dir=C:\\var")
        call = self.helper("half-call", self.pipe(), ready="begun")
        daemon.interrupt()
        daemon.wait_for_line("] Stopping CSI-Proxy Server ...")
        time.sleep(1)
        self.assertIsNone(daemon.process.poll(), daemon.text())
        self.assertNotEqual(testtool("probe", self.pipe()), "open", "new connections are refused")
        call.send_line()
        call.wait_for_line("answered")
        self.assertEqual(call.lines[-1], "answered")
        self.assertEqual(daemon.wait(10), 0, daemon.text())
        self.assertNotIn("cancelled", daemon.text())

    def test_a_call_that_never_ends_is_cancelled_after_the_grace_period(self):
        daemon = self.daemon("-stop-grace-period=2s")
        self.helper("half-call", self.pipe(), ready="begun")
        begun = time.monotonic()
        daemon.interrupt()
        self.assertEqual(daemon.wait(), 0, daemon.text())
        self.assertGreater(time.monotonic() - begun, 1.9)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertIn("1 calls did not finish within 2000 ms and were cancelled", daemon.text())

    def test_a_second_ctrl_c_ends_it_at_once(self):
        daemon = self.daemon("-stop-grace-period=1m")
        self.helper("half-call", self.pipe(), ready="begun")
        daemon.interrupt()
        daemon.wait_for_line("] Stopping CSI-Proxy Server ...")
        time.sleep(0.5)
        self.assertIsNone(daemon.process.poll(), daemon.text())
        daemon.interrupt()
        self.assertNotEqual(daemon.wait(5), 0, daemon.text())
        self.assertIn("] Interrupted again (Ctrl-C): exiting at once", daemon.text())

    def test_a_second_instance_says_what_is_in_the_way(self):
        first = self.daemon()
        second = self.daemon(ready=False)
        self.assertEqual(second.wait(), EXIT_START, second.text())
        self.assertIn(self.pipe(), second.text())
        self.assertRegex(second.text(), r"(?i)csi-proxy\.exe")
        self.assert_pipes("open")
        self.assertIsNone(first.process.poll(), first.text())

    def test_a_taken_pipe_leaves_none_open(self):
        self.helper("squat", self.pipe("filesystem-v2alpha1"), ready="squatting")
        daemon = self.daemon(ready=False)
        self.assertEqual(daemon.wait(), EXIT_START, daemon.text())
        self.assertIn(self.pipe("filesystem-v2alpha1"), daemon.text())
        self.assertRegex(daemon.text(), r"(?i)testtool\.exe")
        self.assertEqual(testtool("probe", self.pipe("filesystem-v1")), "absent")

    def test_the_service_flag_explains_itself(self):
        daemon = self.daemon("-windows-service", ready=False)
        self.assertEqual(daemon.wait(), EXIT_CONFIG, daemon.text())
        self.assertIn("can only be started by the Windows service manager", daemon.text())
        self.assertIn("csi-proxy.exe install", daemon.text())

    def test_a_log_file_is_written(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "csi-proxy.log")
            daemon = self.daemon("-logtostderr=false", "-log_file=" + windows_path(path), ready=False)
            self.wait_for_pipe()
            daemon.interrupt()
            self.assertEqual(daemon.wait(), 0, daemon.text())
            with open(path, encoding="utf-8") as log:
                text = log.read()
        self.assertIn("] Starting CSI-Proxy Server ...", text)
        self.assertIn("] CSI-Proxy Server has stopped", text)

    def test_a_log_file_that_cannot_be_written_is_refused(self):
        daemon = self.daemon("-logtostderr=false", "-log_file=C:\\no\\such\\directory\\x.log", ready=False)
        self.assertEqual(daemon.wait(), EXIT_CONFIG, daemon.text())
        self.assertIn("log: exiting because of error: ", daemon.text())

    def wait_for_pipe(self):
        end = time.monotonic() + harness.WAIT_S
        while testtool("probe", self.pipe()) != "open":
            self.assertLess(time.monotonic(), end, "the pipe never appeared")


class PipeSecurity(WineTest):
    """What the pipes ask Windows for. Wine keeps the access list but does not enforce it."""

    def test_only_system_and_administrators_by_default(self):
        self.daemon()
        for name in PIPES:
            entries = re.findall(r"\([^)]*\)", testtool("dacl", self.pipe(name)))
            self.assertEqual(sorted(re.sub(r";(FA|GA|0x1f01ff);", ";all;", entry) for entry in entries),
                             ["(A;;all;;;BA)", "(A;;all;;;SY)"], name)

    def test_a_given_descriptor_replaces_it(self):
        self.daemon("-pipe-sddl=D:P(A;;GA;;;SY)(A;;GA;;;BA)(A;;GRGW;;;AU)")
        self.assertRegex(testtool("dacl", self.pipe()), r"\(A;;[^;]*;;;AU\)")


class Service(WineTest):
    """Under Wine's service manager, which is a real one: services.exe."""

    def setUp(self):
        super().setUp()
        self.service = unique("csiproxy")

    def sc(self, *arguments, expected=0):
        done = run("sc", *arguments)
        self.assertEqual(done.code, expected, f"sc {arguments}: {done}")
        return done.out

    def create(self, *flags):
        command = " ".join([windows_path(Settings.exe), "-windows-service", "-pipe-prefix=" + self.prefix,
                            *flags])
        self.sc("create", self.service, "binPath=", command)
        self.addCleanup(run, "sc", "delete", self.service)
        self.addCleanup(run, Settings.testtool, "kill", self.service)

    def watch(self):
        return self.helper("watch", self.service, "60", ready="watching")

    @staticmethod
    def states(watcher):
        return [line.split()[0] for line in watcher.lines if re.match(r"[A-Z_]+ at=", line)]

    @staticmethod
    def field(line, name):
        return int(re.search(rf"\b{name}=(\w+)", line).group(1), 0)

    @staticmethod
    def without_repeats(states):
        return [state for i, state in enumerate(states) if i == 0 or states[i - 1] != state]

    def start_and_wait(self):
        watcher = self.watch()
        self.sc("start", self.service)
        return watcher, watcher.wait_for_line("RUNNING at=")

    def test_a_whole_life(self):
        self.create()
        watcher, running = self.start_and_wait()
        self.assertEqual(self.field(running, "accepts"), SERVICE_ACCEPT_STOP_SHUTDOWN_PRESHUTDOWN)
        for name in PIPES:
            self.assertEqual(testtool("probe", self.pipe(name)), "open", "all listen when RUNNING")
        call = self.helper("half-call", self.pipe(), ready="begun")
        self.sc("stop", self.service)
        time.sleep(1)
        call.end_input()
        self.assertEqual(watcher.wait(), 0, watcher.text())
        self.assertEqual(self.without_repeats(self.states(watcher)),
                         ["START_PENDING", "RUNNING", "STOP_PENDING", "STOPPED", "EXITED"], watcher.text())
        stopped = next(line for line in watcher.lines if line.startswith("STOPPED"))
        self.assertEqual(self.field(stopped, "exit"), 0, stopped)
        self.assertEqual(self.field(watcher.lines[-1], "code"), 0, watcher.text())
        self.assertEqual(testtool("probe", self.pipe()), "absent")

    def test_it_starts_again_at_once(self):
        self.create()
        for _ in range(3):
            watcher, _ = self.start_and_wait()
            self.sc("stop", self.service)
            watcher.wait_for_line("STOPPED at=")
            for name in PIPES:
                self.assertEqual(testtool("probe", self.pipe(name)), "absent", name)

    def test_a_call_under_way_is_answered_while_it_stops(self):
        self.create("-working-dir=C:\\var")
        watcher, _ = self.start_and_wait()
        call = self.helper("half-call", self.pipe(), ready="begun")
        self.sc("stop", self.service)
        watcher.wait_for_line("STOP_PENDING at=")
        time.sleep(3)
        call.send_line()
        call.wait_for_line("answered")
        self.assertEqual(call.lines[-1], "answered")
        self.assertEqual(watcher.wait(), 0, watcher.text())
        self.assert_check_points(watcher, at_least=3)

    def assert_check_points(self, watcher, at_least):
        """Between the stop and the end there is a new check point at least every second."""
        lines = [line for line in watcher.lines if line.startswith("STOP_PENDING")]
        points = [self.field(line, "check_point") for line in lines]
        self.assertEqual(points, sorted(set(points)), watcher.text())
        self.assertGreaterEqual(len(points), at_least, watcher.text())
        times = [self.field(line, "at") for line in lines]
        for earlier, later in zip(times, times[1:]):
            self.assertLess(later - earlier, 1500, watcher.text())
        for line in lines:
            self.assertGreater(self.field(line, "hint"), 0, line)
            self.assertEqual(self.field(line, "accepts"), 0, line)

    def test_a_call_that_never_ends_is_cancelled_after_the_grace_period(self):
        self.create("-stop-grace-period=3s")
        watcher, _ = self.start_and_wait()
        self.helper("half-call", self.pipe(), ready="begun")
        self.sc("stop", self.service)
        begun = time.monotonic()
        self.assertEqual(watcher.wait(), 0, watcher.text())
        self.assertLess(time.monotonic() - begun, 10)
        self.assert_check_points(watcher, at_least=4)
        self.assertEqual(self.field(watcher.lines[-1], "code"), 0, watcher.text())

    def assert_start_fails(self, code):
        watcher = self.watch()
        run("sc", "start", self.service)
        watcher.wait()
        stopped = next(line for line in watcher.lines if line.startswith("STOPPED"))
        self.assertEqual(self.field(stopped, "exit"), ERROR_SERVICE_SPECIFIC_ERROR, watcher.text())
        self.assertEqual(self.field(stopped, "specific"), code, watcher.text())
        self.assertNotIn("RUNNING", self.states(watcher))
        self.assertEqual(self.field(watcher.lines[-1], "code"), code, watcher.text())

    def test_a_taken_pipe_fails_the_start_with_its_own_code(self):
        self.helper("squat", self.pipe(), ready="squatting")
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "csi-proxy.log")
            self.create("-logtostderr=false", "-log_file=" + windows_path(path))
            self.assert_start_fails(EXIT_START)
            with open(path, encoding="utf-8") as log:
                text = log.read()
        self.assertIn(self.pipe(), text)
        self.assertRegex(text, r"(?i)testtool\.exe")

    def test_wrong_flags_fail_the_start_with_another_code(self):
        self.create("-no-such-flag")
        self.assert_start_fails(EXIT_CONFIG)

    def test_wrong_values_fail_the_start_with_the_same_code(self):
        self.create("-kubelet-path=relative\\path")
        self.assert_start_fails(EXIT_CONFIG)


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
