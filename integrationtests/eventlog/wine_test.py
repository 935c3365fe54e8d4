#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wine_test.py CSI-PROXY.EXE TESTTOOL.EXE [CLASS.test ...]: the texts in the executable, and the calls that
hand events over. Wine's Event Log takes events and forgets them; its trace shows what it was given."""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "wine"))

import events  # noqa: E402
import harness  # noqa: E402
import message_table  # noqa: E402
from harness import Settings, WineTest, run, windows_path  # noqa: E402

ENGLISH = 0x409


class Executable(unittest.TestCase):
    def test_message_table(self):
        tables = message_table.read(Settings.exe)
        self.assertEqual(list(tables), [ENGLISH])
        messages, texts = tables[ENGLISH], events.read_texts()
        wanted = {events.SEVERITY_BITS[event.severity] << 30 | event.id: event
                  for event in events.read_table()}
        categories = set(events.read_categories().values())
        self.assertEqual(set(messages), set(wanted) | categories)
        for number, event in wanted.items():
            with self.subTest(event.name):
                self.assertEqual(messages[number].strip(), texts[event.id].text)
                self.assertLessEqual(events.inserts_of(messages[number]), set(range(1, event.inserts + 1)))
        for number in categories:
            self.assertEqual(messages[number].strip(), texts[number].text)


class Reports(WineTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="csi-events-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        before = os.environ.get("WINEDEBUG")
        os.environ["WINEDEBUG"] = "-all,warn+eventlog,err+eventlog,trace+eventlog"
        self.addCleanup(self.set_debug, before)

    @staticmethod
    def set_debug(value):
        os.environ.pop("WINEDEBUG", None)
        if value is not None:
            os.environ["WINEDEBUG"] = value

    def ctl(self, *arguments):
        exe = pathlib.Path(Settings.exe).parents[2] / "client" / "ctl" / "csi-proxyctl.exe"
        return run(str(exe), "-pipe-prefix=" + self.prefix, *arguments)

    def test_start_calls_stop(self):
        audit = self.folder / "audit.json"
        daemon = self.daemon("-event-log=all", f"-audit-log={windows_path(audit)}",
                             "-working-dir=C:\\audited")
        self.ctl("call", "filesystem", "v1", "Mkdir", json.dumps({"path": "C:\\audited\\new"}))
        refused = self.ctl("call", "filesystem", "v1", "Mkdir", json.dumps({"path": "C:\\elsewhere"}))
        self.assertEqual(refused.code, 1, refused)
        end = time.monotonic() + harness.WAIT_S
        while not audit.exists() or audit.read_text().count("\n") < 2:
            self.assertLess(time.monotonic(), end, "no audit records")
            time.sleep(0.05)
        records = [json.loads(line) for line in audit.read_text(encoding="utf-8").splitlines()]
        self.assertEqual([record["method"] for record in records], ["Mkdir", "Mkdir"])
        self.assertEqual(records[1]["result"], "refused")
        self.assertIn('path="C:\\\\elsewhere"', records[1]["object"])
        for record in records:
            self.assertIn("csi-proxyctl.exe", record["image"])
            self.assertGreater(record["process_id"], 0)
            self.assertGreaterEqual(record["session_id"], 0)
            self.assertRegex(record["account"], r"^S-1-5-")
            self.assertEqual(record["container"], "")
        daemon.interrupt()
        self.assertEqual(daemon.wait(), 0, daemon.text())
        self.assert_reported(daemon.text())

    def assert_reported(self, text):
        """Wine shows the strings of an event, and by the class of its message, its type."""
        strings = [(kind, string.replace('\\"', '"').replace("\\\\", "\\"))
                   for kind, string in re.findall(r':(trace|warn|err):eventlog:ReportEventW L"(.*)"', text)]
        self.assertEqual(strings.count(("trace", "/v1.Filesystem/Mkdir")), 1)  # 300: information
        begin = strings.index(("warn", "/v1.Filesystem/Mkdir"))  # 302: warning
        refused = [string for _, string in strings[begin:begin + 14]]
        self.assertEqual(refused[1], 'path="C:\\\\elsewhere"')
        self.assertIn("csi-proxyctl.exe", refused[2])
        self.assertEqual(refused[9:13], ["UNKNOWN", "PERMISSION_DENIED", "-", "-"])
        self.assertIn("C:\\elsewhere is not within the working directories", refused[13])
        self.assertIn(("trace", "23"), strings)  # 101: API versions
        self.assertEqual(strings[-2:], [("trace", "30000"), ("trace", "0")])  # 102, 103

    def test_off_reports_nothing(self):
        daemon = self.daemon()
        daemon.interrupt()
        self.assertEqual(daemon.wait(), 0, daemon.text())
        self.assertNotIn("ReportEvent", daemon.text())

    def test_audit_log_that_cannot_be_opened(self):
        done = run(Settings.exe, "-pipe-prefix=" + self.prefix, "-audit-log=C:\\no\\such\\folder\\audit.json")
        self.assertEqual(done.code, 2, done)
        self.assertIn("-audit-log: open C:\\no\\such\\folder\\audit.json: ", done.err)


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
