#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""native_test.py CSI-PROXYCTL CSI-PROXY-NATIVE [CLASS.test ...]: every verb before the node in memory, in
pipes and on a terminal."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import verbs
from terminal import LIMIT_S, Terminal
from verbs import DONE, NOT_READY, REFUSED, UNREACHABLE, Finished, Verbs

HERE = pathlib.Path(__file__).resolve().parent
PROFILES = HERE.parent / "testbed" / "profiles"
CTL, NATIVE = sys.argv.pop(1), sys.argv.pop(1)
ESCAPE = "\x1b"


class Service:
    """csi-proxy-native with the disks of a profile."""

    def __init__(self, profile, *flags):
        self.directory = tempfile.TemporaryDirectory(prefix="csi-ctl-")
        self.prefix = os.path.join(self.directory.name, "csi-proxy-")
        environment = dict(os.environ)
        if profile:
            environment["CSI_PROXY_NATIVE_PROFILE"] = str(PROFILES / f"{profile}.profile")
        self.log = open(os.path.join(self.directory.name, "log"), "w+b")
        self.process = subprocess.Popen([NATIVE, f"-pipe-prefix={self.prefix}", *flags], env=environment,
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        cwd=self.directory.name)
        end = time.monotonic() + LIMIT_S
        while b"] Serving " not in self.read_log():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise AssertionError(f"the service did not start:\n{self.read_log()}")
            time.sleep(0.02)

    def read_log(self):
        return pathlib.Path(self.log.name).read_bytes() if os.path.exists(self.log.name) else b""

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(LIMIT_S)
        finally:
            self.process.kill()
            self.log.close()
            self.directory.cleanup()

    def command(self, line):
        """A command of the testbed."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(LIMIT_S)
            control.connect(self.prefix + "control")
            control.sendall(line.encode() + b"\n")
            with control.makefile("r", encoding="utf-8") as answers:
                lines = []
                for answer in answers:
                    if answer.startswith(". "):
                        if answer.strip() != ". ok":
                            raise AssertionError(f"{line}: {answer.strip()}")
                        return lines
                    lines.append(answer.rstrip("\n"))
        raise AssertionError(f"{line}: no answer")


class NativeTest(unittest.TestCase):
    profile = "azure-nvme"
    flags = ()
    service = None

    @classmethod
    def setUpClass(cls):
        cls.service = Service(cls.profile, *cls.flags)
        cls.addClassCleanup(cls.service.stop)

    def command_line(self, *arguments):
        return [CTL, f"-pipe-prefix={self.service.prefix}", *arguments]

    def run_ctl(self, *arguments, text=""):
        done = subprocess.run(self.command_line(*arguments), input=text.encode(), capture_output=True,
                              timeout=LIMIT_S, check=False)
        return Finished(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


class NativeVerbs(Verbs, NativeTest):
    data_disk = 3
    mount_point = "C:\\var\\lib\\kubelet\\ctl"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.disks = verbs.parse_profile((PROFILES / f"{cls.profile}.profile").read_text(encoding="ascii"))

    def map_share(self):
        self.service.command("share add root=\\\\files\\share user=u password=p")
        self.call("smb", "NewSmbGlobalMapping", remote_path="\\\\files\\share", username="u", password="p")
        return "\\\\files\\share"

    def connect_target(self):
        name = "iqn.2026-01.org.example:ctl"
        self.service.command(f"target add iqn={name} portal=192.0.2.10:3260")
        file = f"{self.service.directory.name}/lun"
        self.service.command(f"target lun iqn={name} number=40 size=64M file={file}")
        portal = {"target_address": "192.0.2.10", "target_port": 3260}
        self.call("iscsi", "AddTargetPortal", target_portal=portal)
        self.call("iscsi", "DiscoverTargetPortal", target_portal=portal)
        self.call("iscsi", "ConnectTarget", target_portal=portal, iqn=name, auth_type="NONE")
        self.addCleanup(self.call, "iscsi", "DisconnectTarget", target_portal=portal, iqn=name)
        return name, "192.0.2.10", 3260

    def test_top_shows_a_call_that_runs(self):
        self.service.command("fault add disk=2 call=DISK_GET_DRIVE_LAYOUT_EX hang count=0")
        command = self.command_line("call", "disk", "v1", "PartitionDisk", '{"disk_number": 2}')
        call = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + LIMIT_S
            row = None
            while row is None and time.monotonic() < end:
                out = self.ctl("top", "-n", "1").out
                row = next((row for row in verbs.read_table(out.split("\n\n")[1])
                            if row["CALL"] == "v1.Disk/PartitionDisk" and row["STATE"] == "running"), None)
            self.assertIsNotNone(row, "the call was not seen")
            self.assertIn("disk_number=2", row["OBJECT"])
            self.assertEqual(row["CALLER"], f"{call.pid} csi-proxyctl")
            self.assertRegex(row["AGE"], r"^\d+m?s$")
        finally:
            call.kill()
            call.wait()
            self.service.command("fault clear")


class OddNames(NativeTest):
    """Nothing that a device calls itself may direct the terminal of whoever looks."""

    profile = None
    bad = "%1B%5B31mred%1B%5D0;title%07%C2%9B2J%E2%80%AE"

    def setUp(self):
        self.service.command(f"disk add number=1 size=1G file=x vendor=V product={self.bad} "
                             f"serial={self.bad} page83=ascii:{self.bad}@0/8 address=0.0.0.1")
        self.addCleanup(self.service.command, "disk remove number=1")

    def test_tables_and_documents(self):
        for format_ in ("table", "json", "yaml"):
            for verb in (("disks",), ("explain", "disk", "1"), ("status",)):
                for colour in ("never", "always"):
                    done = self.run_ctl("-o", format_, "-color", colour, *verb)
                    text = re.sub(r"\x1b\[[\d;]*m", "", done.out) if colour == "always" else done.out
                    for character in "\x1b\x07\x9b\x7f\u202e\r":
                        self.assertNotIn(character, text, (format_, verb, colour))

    def test_the_name_is_shown_escaped(self):
        self.assertIn("\\x1b[31mred", self.run_ctl("disks").out)


class NotReady(NativeTest):
    """Readiness is looked at again after some seconds; each of these has a service of its own."""

    def test_exit_code(self):
        self.service.command("part set name=fmifs.dll state=missing")
        done = self.run_ctl("status")
        self.assertEqual(done.code, NOT_READY, done)
        self.assertIn(": not ready\n", done.out)
        self.assertRegex(done.out, r"(?m)^volume +not ready ")
        self.assertRegex(done.out, r"(?m)^! volume: fmifs.dll is missing\n    .*fmifs")
        for format_ in ("json", "yaml"):
            self.assertEqual(self.run_ctl("-o", format_, "status").code, NOT_READY)


class OptionalGroupNotReady(NativeTest):
    def test_exit_code(self):
        self.service.command("part set name=iscsidsc.dll state=missing")
        done = self.run_ctl("status")
        self.assertEqual(done.code, DONE, done)
        self.assertRegex(done.out, r"(?m)^iscsi +not ready \(not required\) ")
        self.assertRegex(done.out, r"(?m)^! iscsi: iscsidsc.dll is missing\n    .*no iSCSI initiator")


class PartWithRemark(NativeTest):
    def test_exit_code(self):
        self.service.command("part set name=MSiSCSI state=stopped")
        done = self.run_ctl("status")
        self.assertEqual(done.code, DONE, done)
        self.assertRegex(done.out, r"(?m)^! iscsi: MSiSCSI is there, but\n    .*sc.exe start MSiSCSI")


class WithoutAdminPipe(NativeTest):
    flags = ("-admin-pipe=false",)

    def test_every_verb_says_what_to_do(self):
        for verb in (("status",), ("disks",), ("volumes",), ("mounts",), ("smb",), ("iscsi",),
                     ("top", "-n", "1"), ("explain", "disk", "1"), ("-o", "json", "disks")):
            done = self.run_ctl(*verb)
            self.assertEqual(done.code, UNREACHABLE, (verb, done))
            self.assertIn("-admin-pipe=true", done.err, (verb, done))
            self.assertIn("call disk v1 ListDiskIDs", done.err, (verb, done))
            self.assertEqual(done.out, "")


class Nobody(unittest.TestCase):
    def test_exit_code(self):
        with tempfile.TemporaryDirectory() as directory:
            for verb in ("status", "disks", "top"):
                done = subprocess.run([CTL, f"-pipe-prefix={directory}/none-", verb], capture_output=True,
                                      timeout=LIMIT_S, check=False)
                self.assertEqual(done.returncode, UNREACHABLE, done)
                self.assertNotIn(b"-admin-pipe=true", done.stderr)
                self.assertIn(b"none-admin-v1", done.stderr)


class Files(NativeTest):
    """Standard input and output, and files."""

    def run_closed(self, *closed):
        def close():
            for number in closed:
                os.close(number)

        return subprocess.run(self.command_line("status"), stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=LIMIT_S, check=False, preexec_fn=close)

    def test_closed_standard_files(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            done = self.run_closed(*closed)
            self.assertEqual((done.returncode, done.stderr), (DONE, b""), closed)

    def test_output_that_cannot_be_written(self):
        for arguments in (("status",), ("help",), ("-o", "json", "disks")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run(self.command_line(*arguments), stdout=full, stderr=subprocess.PIPE,
                                      timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, REFUSED, arguments)
            self.assertIn(b"standard output: No space left on device", done.stderr)
            self.assertNotIn(b"code:", done.stderr)

    def test_reader_that_goes_away(self):
        for verb in ("status", "help"):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run(self.command_line(verb), stdout=write, stderr=subprocess.PIPE,
                                  timeout=LIMIT_S, check=False)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (REFUSED, b""), verb)

    def test_requests_as_editors_and_shells_write_them(self):
        path = os.path.join(self.service.directory.name, "request")
        text = '{"disk_number": 3}\r\n'
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            pathlib.Path(path).write_bytes(text.encode(encoding))
            done = self.run_ctl("call", "disk", "v1", "GetDiskStats", "@" + path)
            self.assertEqual(done.code, DONE, (encoding, done))
        pathlib.Path(path).write_bytes('{"path": "C:\\\\\u00e4"}'.encode("cp850"))
        done = self.run_ctl("call", "filesystem", "v1", "PathExists", "@" + path)
        self.assertEqual(done.code, verbs.USAGE)
        self.assertIn("must be UTF-8", done.err)
        for changed in ("{disk_number: 3}", '{\\"disk_number\\": 3}'):
            done = self.run_ctl("call", "disk", "v1", "GetDiskStats", changed)
            self.assertEqual(done.code, verbs.USAGE)
            self.assertIn("the shell may have changed them", done.err)


class OnTerminal(NativeTest):
    def terminal(self, *arguments, columns=80, rows=24, **environment):
        environment = {"NO_COLOR": None, **environment}
        terminal = Terminal(self.command_line(*arguments), columns, rows, **environment)
        self.addCleanup(terminal.close)
        return terminal

    def shown(self, *arguments, **keys):
        return self.terminal(*arguments, **keys).read().replace("\r\n", "\n")

    def test_colours(self):
        self.assertIn(ESCAPE + "[", self.shown("disks"))
        for arguments, keys in ((("disks",), {"NO_COLOR": "1"}), (("disks",), {"TERM": "dumb"}),
                                (("-color=never", "disks"), {}), (("-o", "json", "disks"), {}),
                                (("-o", "yaml", "disks"), {})):
            with self.subTest(arguments=arguments, **keys):
                self.assertNotIn(ESCAPE, self.shown(*arguments, **keys))
        self.assertIn(ESCAPE, self.shown("disks", NO_COLOR=""))  # no-color.org: empty does not count
        self.assertIn(ESCAPE, self.shown("-color=always", "disks", NO_COLOR="1"))
        self.assertNotIn(ESCAPE, self.run_ctl("disks").out)
        self.assertIn(ESCAPE, self.run_ctl("-color=always", "disks").out)

    def test_tables_fit_the_terminal(self):
        def longest(text):
            return max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in text.splitlines())

        whole = self.run_ctl("disks").out
        self.assertGreater(longest(whole), 120)
        for columns in (20, 80, 120, 200, 300):
            cut = self.shown("disks", columns=columns)
            self.assertLessEqual(longest(cut), columns, cut)
            self.assertEqual("\u2026" in cut, columns < longest(whole), cut)
            self.assertEqual(re.search(r"\(no\s+room", cut) is not None, columns <= 120, cut)
            if columns >= 80:
                for heading in ("SERIAL", "PAGE 83"):
                    self.assertIn(heading, cut.split("(no room")[0])
        self.assertNotIn("\u2026", whole)

    def begin_top(self, *arguments, **keys):
        terminal = self.terminal("top", "-interval", "100ms", *arguments, **keys)
        terminal.read("has been called|METHOD")
        self.assertTrue(terminal.text.startswith(f"{ESCAPE}[?1049h"), terminal.text)
        return terminal

    def check_restored(self, terminal, code=DONE):
        terminal.read()
        self.assertEqual(terminal.process.wait(LIMIT_S), code)
        self.assertTrue(terminal.text.endswith(f"{ESCAPE}[?25h{ESCAPE}[?1049l"), terminal.text[-80:])
        self.assertEqual(terminal.settings(), terminal.before)

    def test_top_ends_with_q(self):
        terminal = self.begin_top()
        self.assertNotEqual(terminal.settings()[3] & termios.ICANON, termios.ICANON)
        terminal.send("xq")
        self.check_restored(terminal)

    def test_top_ends_with_control_c_and_signals(self):
        terminal = self.begin_top()
        terminal.send("\x03")
        self.check_restored(terminal)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            terminal = self.begin_top()
            terminal.process.send_signal(number)
            self.check_restored(terminal)

    def test_top_stops_and_goes_on(self):
        """Under a shell with job control: a program without one is not stopped."""
        line = " ".join(self.command_line("top", "-interval", "100ms"))
        terminal = Terminal(["/bin/bash", "-c", f"set -m; {line}; echo stopped; stty -a; fg; echo code $?"])
        self.addCleanup(terminal.close)
        terminal.read("has been called|METHOD")
        terminal.send("\x1a")
        terminal.read(r"(?s)\x1b\[\?1049l.*stopped\r\n.*[^-]icanon.*\x1b\[\?1049h.*csi-proxy  ")
        terminal.send("q")
        self.assertRegex(terminal.read(), r"\x1b\[\?1049l(?s:.*)code 0\r\n$")

    def test_top_ends_after_its_rounds(self):
        terminal = self.begin_top("-n", "2")
        self.check_restored(terminal)

    def test_top_follows_the_size(self):
        def drawn_in(columns, rows):
            terminal.resize(columns, rows)
            terminal.process.send_signal(signal.SIGWINCH)
            terminal.text = ""
            terminal.read(r"(?s)(\[H.*\x1b\[J.*){3}")  # the first may be of the old size
            drawn = re.findall(r"(?s)\[H(.*?)\x1b\[J", terminal.text)[-1]
            return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", drawn).split("\r\n")

        terminal = self.begin_top()
        self.assertEqual(len(drawn_in(80, 6)), 6)
        for columns in (40, 20):
            lines = drawn_in(columns, 24)
            self.assertLessEqual(max(len(line) for line in lines), columns, lines)
        self.assertGreater(max(len(line) for line in drawn_in(100, 24)), 60)
        terminal.send("q")
        self.check_restored(terminal)

    def test_top_restores_the_screen_when_the_service_goes(self):
        service = Service(None)
        terminal = Terminal([CTL, f"-pipe-prefix={service.prefix}", "top", "-interval", "100ms"])
        self.addCleanup(terminal.close)
        with contextlib.ExitStack() as stack:
            stack.callback(service.stop)
            terminal.read("has been called|METHOD")
        terminal.read()
        self.assertIn(terminal.process.wait(LIMIT_S), (REFUSED, UNREACHABLE))
        self.assertRegex(terminal.text, r"\x1b\[\?25h\x1b\[\?1049l(?s:.*)error: ")
        self.assertEqual(terminal.settings(), terminal.before)


if __name__ == "__main__":
    unittest.main()
