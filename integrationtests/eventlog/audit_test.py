#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""audit_test.py CSI-PROXYCTL CSI-PROXY-NATIVE [CLASS.test ...]: the audit log of a whole server, read with
Python's JSON parser."""

import datetime
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CTL, NATIVE = sys.argv.pop(1), sys.argv.pop(1)
LIMIT_S = 60
KEYS = ["time", "id", "process_id", "session_id", "image", "account", "container", "service", "method",
        "object", "result", "code", "precise_code", "rejection", "error_space", "error_number", "error_call",
        "duration_ms", "queued_ms", "error"]
PASSWORD = "p-7Qz-secret"


class AuditTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="csi-audit-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.prefix = str(self.folder / "csi-proxy-")
        self.file = self.folder / "audit.json"

    def command(self, *flags):
        return [NATIVE, f"-pipe-prefix={self.prefix}", f"-audit-log={self.file}", "-working-dir=C:\\work",
                *flags]

    def start(self, *flags):
        self.log = open(self.folder / "log", "w+b")
        self.addCleanup(self.log.close)
        # Signals as here: SIGXFSZ is ignored, a file that is too long is an error of write().
        service = subprocess.Popen(self.command(*flags), stdin=subprocess.DEVNULL, stdout=self.log,
                                   stderr=self.log, cwd=self.folder, restore_signals=False)
        self.addCleanup(service.wait)
        self.addCleanup(service.kill)
        end = time.monotonic() + LIMIT_S
        while b"] Serving " not in (self.folder / "log").read_bytes():
            self.assertIsNone(service.poll(), (self.folder / "log").read_text())
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        return service

    def stop(self, service):
        service.send_signal(signal.SIGTERM)
        self.assertEqual(service.wait(LIMIT_S), 0)

    def call(self, group, rpc, **fields):
        request = json.dumps(fields)
        done = subprocess.run([CTL, f"-pipe-prefix={self.prefix}", "call", group, "v1", rpc, request],
                              capture_output=True, timeout=LIMIT_S, check=False)
        self.assertIn(done.returncode, (0, 1), done)
        return done.returncode == 0

    def records(self, count=None):
        """All of the file; waits for the count-th when there is one."""
        end = time.monotonic() + LIMIT_S
        while count is not None and (not self.file.exists() or self.file.read_bytes().count(b"\n") < count):
            self.assertLess(time.monotonic(), end, "no such record")
            time.sleep(0.02)
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]

    def test_calls(self):
        service = self.start()
        begin = datetime.datetime.now(datetime.timezone.utc)
        self.assertTrue(self.call("filesystem", "Mkdir", path="C:\\work\\\u00e4 b"))
        self.assertTrue(self.call("filesystem", "PathExists", path="C:\\work"))  # changes nothing
        self.assertFalse(self.call("filesystem", "Mkdir", path="C:\\elsewhere\\a\"\n"))
        self.assertFalse(self.call("disk", "PartitionDisk", disk_number=77))
        self.assertFalse(self.call("smb", "NewSmbGlobalMapping", remote_path="\\\\host\\share", username="u",
                                   password=PASSWORD))
        self.assertFalse(self.call("filesystem", "Mkdir", path="C:\\work\\\0"))
        records = self.records(5)
        self.stop(service)
        self.assertEqual(self.records(), records)
        for record in records:
            self.assertEqual(list(record), KEYS)
            moment = datetime.datetime.fromisoformat(record["time"].replace("Z", "+00:00"))
            self.assertLess(abs((moment - begin).total_seconds()), 600)
            self.assertGreater(record["process_id"], 0)
            self.assertEqual(record["account"], f"uid {os.getuid()}")
            self.assertGreaterEqual(record["duration_ms"], record["queued_ms"])
        self.assertEqual([(record["service"], record["method"], record["result"]) for record in records],
                         [("v1.Filesystem", "Mkdir", "done"), ("v1.Filesystem", "Mkdir", "refused"),
                          ("v1.Disk", "PartitionDisk", "failed"), ("v1.Smb", "NewSmbGlobalMapping", "failed"),
                          ("v1.Filesystem", "Mkdir", "rejected")])
        self.assertEqual(records[0]["object"], 'path="C:\\\\work\\\\\u00e4 b"')
        self.assertEqual(records[1]["object"], 'path="C:\\\\elsewhere\\\\a\\"\\n"')
        self.assertEqual(records[0]["code"], "OK")
        self.assertEqual(records[1]["precise_code"], "INVALID_ARGUMENT")
        self.assertEqual(records[2]["object"], "disk_number=77")
        self.assertIn("password=***", records[3]["object"])
        self.assertEqual(records[4]["rejection"], "bad_message")
        self.assertNotIn(PASSWORD, self.file.read_text(encoding="utf-8"))
        self.assertEqual(len({record["id"] for record in records}), len(records))

    def test_appends_and_rotates(self):
        for _ in range(2):
            service = self.start()
            self.call("filesystem", "Mkdir", path="C:\\work\\a")
            self.stop(service)
        self.assertEqual(len(self.records()), 2)
        service = self.start("-log_file_max_age=1ms", "-audit-log-max-backups=2")
        for i in range(5):
            self.call("filesystem", "Mkdir", path=f"C:\\work\\{i}")
        self.stop(service)
        self.assertEqual(len(self.records()), 1)
        backups = sorted(self.folder.glob("audit.*-*.json"))
        self.assertEqual(len(backups), 2)
        for backup in backups:
            self.assertEqual(json.loads(backup.read_text(encoding="utf-8"))["method"], "Mkdir")

    def test_no_record_is_rotated_away(self):
        """Unless that is asked for: the number of backups of the log is not that of the evidence."""
        service = self.start("-log_file_max_age=1ms", "-log_file_max_backups=1")
        for i in range(4):
            self.call("filesystem", "Mkdir", path=f"C:\\work\\{i}")
        self.stop(service)
        self.assertEqual(len(list(self.folder.glob("audit*.json"))), 4)

    def test_zero_and_false_are_told(self):
        service = self.start()
        self.call("disk", "SetDiskState", disk_number=0, is_online=False)
        record, = self.records(1)
        self.stop(service)
        self.assertEqual(record["object"], "disk_number=0 is_online=false")

    def test_full_disk(self):
        """Every line parses, and what is written and what is told as lost are all calls."""
        service = self.start()
        calls = 25
        for i in range(calls):
            if i == 3:
                size = self.file.stat().st_size
                resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
            if i == 8:
                resource.prlimit(service.pid, resource.RLIMIT_FSIZE,
                                 (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            self.assertTrue(self.call("filesystem", "Mkdir", path=f"C:\\work\\{i:02}"))
            time.sleep(0.05 if 2 <= i <= 8 else 0)  # one flush for a record, mostly
        self.stop(service)
        records = self.records()
        lost_bytes = sum(record.get("lost_bytes", 0) for record in records)
        written = [record for record in records if "method" in record]
        lengths = {len(line) + 1 for line in self.file.read_bytes().splitlines() if b'"method"' in line}
        self.assertLess(len(written), calls)
        missing = calls - len(written)
        self.assertGreater(lost_bytes, missing * (min(lengths) - 20))
        self.assertLess(lost_bytes, missing * (max(lengths) + 20))

    def test_without(self):
        self.file = ""
        service = self.start()
        self.assertTrue(self.call("filesystem", "Mkdir", path="C:\\work\\a"))
        self.stop(service)
        self.assertEqual(list(self.folder.glob("*.json")), [])

    def test_check_config_makes_no_file(self):
        self.assertEqual(subprocess.run(self.command("-check-config"), stdout=subprocess.DEVNULL,
                                        timeout=LIMIT_S, check=False).returncode, 0)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.file = self.folder / "no" / "audit.json"
        done = subprocess.run(self.command("-check-config"), capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(b"configuration is not valid: -audit-log: ", done.stdout)

    def test_same_file_as_the_log(self):
        done = subprocess.run(self.command(f"-log_file={self.file}"), capture_output=True, timeout=LIMIT_S,
                              check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(b"-audit-log must not be the -log_file", done.stderr)

    def test_what_is_no_wrong_flag(self):
        self.file = self.folder  # a directory
        done = subprocess.run(self.command(), capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 3, done)

    def test_unusable_file_ends_the_start(self):
        self.file = self.folder / "no" / "such" / "audit.json"
        done = subprocess.run(self.command(), capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(f"-audit-log: open {self.file}: ".encode(), done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
