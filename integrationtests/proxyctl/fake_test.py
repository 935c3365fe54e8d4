#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fake_test.py CSI-PROXYCTL GEN_DIR [CLASS.test ...]: every verb before a service that answers as no
csi-proxy would: foreign texts, extreme numbers, errors, silence."""

import concurrent.futures
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor

from terminal import LIMIT_S, Terminal
from verbs import DONE, NOT_READY, REFUSED, UNREACHABLE, Finished

CTL, GEN_DIR = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
VERBS = (("status",), ("disks",), ("explain", "disk", "1"), ("explain", "disk", "no-such"), ("volumes",),
         ("mounts",), ("smb",), ("iscsi",), ("top", "-n", "2", "-interval", "100ms"))
EVIL = "a\x1b[2J\x1b]0;t\x07\x9b\u202e\r\n\x7fz"
NUMBERS = {
    FieldDescriptor.TYPE_INT64: (-2**63, -1, 2**63 - 1), FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.TYPE_INT32: (-2**31, -1, 2**31 - 1), FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_ENUM: (0, 1, 2, 77), FieldDescriptor.TYPE_BOOL: (False, True),
}


def read_types():
    files = descriptor_pb2.FileDescriptorSet()
    files.ParseFromString((GEN_DIR / "admin" / "descriptors.pb").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        if file.name == "admin/v1/api.proto":
            pool.Add(file)
    return pool


POOL = read_types()


def new(name, **fields):
    type_ = POOL.FindMessageTypeByName(f"v1.{name}")
    return message_factory.MessageFactory(POOL).GetPrototype(type_)(**fields)


def fill(message, turn):
    """Every text evil, every number the turn's extreme; three of everything."""
    for field in message.DESCRIPTOR.fields:
        several = field.label == FieldDescriptor.LABEL_REPEATED
        if field.message_type is not None:
            for i in range(3 if several else 1):
                value = getattr(message, field.name)
                fill(value.add() if several else value, turn + i)
            continue
        numbers = NUMBERS.get(field.type)
        values = [EVIL if numbers is None else numbers[(turn + i) % len(numbers)] for i in range(3)]
        if several:
            getattr(message, field.name).extend(values)
        else:
            setattr(message, field.name, values[0])
    return message


class Fake(grpc.GenericRpcHandler):
    """Answers what `answer` returns for the name of an RPC: a message, bytes, or an error to abort with."""

    def __init__(self, directory):
        self.prefix = os.path.join(directory, "fake-")
        self.answer = None
        self.called = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        self.server.add_generic_rpc_handlers((self,))
        self.server.add_insecure_port(f"unix:{self.prefix}admin-v1")
        self.server.start()

    def service(self, details):
        def run(_, context):
            rpc = details.method.rpartition("/")[2]
            self.called.append(rpc)
            answer = self.answer(rpc)
            if isinstance(answer, grpc.StatusCode):
                context.abort(answer, EVIL)
            return answer if isinstance(answer, bytes) else answer.SerializeToString()

        return grpc.unary_unary_rpc_method_handler(run)


class FakeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="csi-ctl-")
        cls.addClassCleanup(directory.cleanup)
        cls.fake = Fake(directory.name)
        cls.addClassCleanup(lambda: cls.fake.server.stop(None).wait())

    def run_ctl(self, *arguments):
        done = subprocess.run([CTL, f"-pipe-prefix={self.fake.prefix}", *arguments], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT_S, check=False)
        return Finished(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))

    def answer_with(self, **messages):
        """What is not named is empty."""
        self.fake.answer = lambda rpc: messages.get(rpc, new(f"{rpc}Response"))

    # ---- foreign texts, extreme numbers

    def check_harmless(self, done, what):
        for text in (re.sub(r"\x1b\[[\d;]*m", "", done.out), done.err):
            self.assertNotRegex(text, "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u202e]", what)

    def test_foreign_texts_and_extreme_numbers(self):
        for turn, others in enumerate((("-color=always",), ("-o", "json"), ("-o", "yaml"))):
            self.fake.answer = lambda rpc, turn=turn: fill(new(f"{rpc}Response"), turn)
            for verb in VERBS:
                for flags in ((), others):
                    done = self.run_ctl(*flags, *verb)
                    self.assertIn(done.code, (DONE, REFUSED, NOT_READY), (turn, flags, verb, done))
                    self.check_harmless(done, (turn, flags, verb))

    def test_foreign_errors(self):
        for code in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.NOT_FOUND):
            self.fake.answer = lambda rpc, code=code: code
            for verb in VERBS:
                done = self.run_ctl(*verb)
                self.assertEqual((done.code, done.out), (REFUSED, ""), (verb, done))
                self.check_harmless(done, verb)

    def test_bytes_that_are_no_message(self):
        self.fake.answer = lambda rpc: b"\xff" * 100
        for verb in VERBS:
            done = self.run_ctl(*verb)
            self.assertEqual((done.code, done.out), (REFUSED, ""), (verb, done))
            self.assertIn("cannot be decoded", done.err)

    # ---- errors

    def test_nothing_is_not_the_same_as_unknown(self):
        self.answer_with()
        nothing = {"disks": "This node has no disks.", "volumes": "No disk of this node has a volume.",
                   "mounts": "No volume is mounted.", "iscsi": "  none\n"}
        for verb, text in nothing.items():
            done = self.run_ctl(verb)
            self.assertEqual(done.code, DONE)
            self.assertIn(text, done.out)
        error = "disk 3: Access is denied."
        self.answer_with(ListDisks=new("ListDisksResponse", errors=[error]),
                         ListVolumes=new("ListVolumesResponse", errors=[error]),
                         ListIscsiSessions=new("ListIscsiSessionsResponse", errors=[error]))
        for verb, text in nothing.items():
            done = self.run_ctl(verb)
            self.assertEqual((done.code, done.err), (REFUSED, ""), done)
            self.assertNotIn(text, done.out)
            self.assertIn(f"! {error}\n", done.out)
            self.assertEqual(self.run_ctl("-o", "json", verb).code, REFUSED)
        volume = new("VolumeDetails", volume_id="v", errors=["no mount points"])
        self.answer_with(ListVolumes=new("ListVolumesResponse", volumes=[volume]))
        done = self.run_ctl("mounts")
        self.assertEqual(done.code, DONE)
        self.assertNotIn("No volume is mounted.", done.out)

    def test_an_answer_is_not_taken_for_a_missing_pipe(self):
        self.fake.called.clear()
        self.fake.answer = lambda rpc: grpc.StatusCode.UNAVAILABLE
        for verb in (("status",), ("disks",)):
            done = self.run_ctl(*verb)
            self.assertEqual(done.code, UNREACHABLE)
            self.assertNotIn("admin pipe", done.err)
        self.assertEqual(self.fake.called, ["GetStatus", "ListDisks"])

    def test_the_time_is_over_only_when_it_is(self):
        self.fake.answer = lambda rpc: grpc.StatusCode.DEADLINE_EXCEEDED
        done = self.run_ctl("disks")
        self.assertEqual(done.code, REFUSED)
        self.assertIn("DEADLINE_EXCEEDED", done.err)
        self.assertNotIn("nothing came within", done.err)

    # ---- explain

    def test_findings_of_an_unknown_level_come_first(self):
        findings = [new("Finding", level=level, subject=f"subject {level}", text="text")
                    for level in (0, 3, 1, 2)]
        self.answer_with(ExplainDisk=new("ExplainDiskResponse", findings=findings))
        shown = re.findall(r"(?m)^([A-Z]+) +(subject \d)$", self.run_ctl("explain", "disk", "1").out)
        self.assertEqual(shown, [("UNKNOWN", "subject 3"), ("PROBLEM", "subject 2"), ("NOTE", "subject 1"),
                                 ("OK", "subject 0")])

    def test_digits_may_be_a_serial_number(self):
        disks = new("ListDisksResponse", disks=[new("DiskDetails", number=1, serial_number="4711")])
        explained = []

        def answer(rpc):
            if rpc == "ListDisks":
                return disks
            explained.append(rpc)
            return grpc.StatusCode.NOT_FOUND if len(explained) == 1 else new("ExplainDiskResponse")

        self.fake.answer = answer
        self.assertEqual(self.run_ctl("explain", "disk", "4711").code, DONE)
        self.assertEqual(len(explained), 2)

    # ---- top

    def rows_of_top(self, *rounds):
        answers = iter(rounds)
        self.fake.answer = lambda rpc: new("ListCallsResponse", methods=[
            new("MethodTotals", service="s", method=name, started=count, succeeded=count, duration_us=count)
            for name, count in next(answers).items()])
        done = self.run_ctl("top", "-n", str(len(rounds)), "-interval", "100ms")
        self.assertEqual(done.code, DONE, done)
        lines = done.out.split("csi-proxy  ")[-1].splitlines()
        return {words[0]: words[1:] for words in map(str.split, lines) if words and words[0].startswith("s/")}

    def test_rates(self):
        rows = self.rows_of_top({"a": 5, "b": 5}, {"a": 5, "b": 6, "c": 1})
        self.assertEqual(rows["s/a"][0], "0.0")
        self.assertNotIn(rows["s/b"][0], ("-", "0.0"))
        self.assertNotIn(rows["s/c"][0], ("-", "0.0"))

    def test_rates_of_a_service_that_was_started_anew(self):
        for second in ({"a": 6, "b": 4}, {"a": 6}):
            rows = self.rows_of_top({"a": 5, "b": 5}, second)
            self.assertEqual({row[0] for row in rows.values()}, {"-"}, rows)

    def test_a_method_that_never_ended_has_no_times(self):
        rows = self.rows_of_top({"a": 0})
        self.assertEqual(rows["s/a"], ["-", "-", "0", "0", "-", "-"])


class Silence(unittest.TestCase):
    """Somebody accepts the connection, and says nothing: every verb ends by its time limit."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="csi-ctl-")
        self.addCleanup(directory.cleanup)
        self.prefix = os.path.join(directory.name, "silent-")
        for name in ("admin-v1", "disk-v1"):
            listener = socket.socket(socket.AF_UNIX)
            self.addCleanup(listener.close)
            listener.bind(self.prefix + name)
            listener.listen()

    def test_time_limit(self):
        for verb in (*VERBS, ("call", "disk", "v1", "ListDiskIDs"), ("list",)):
            begin = time.monotonic()
            done = subprocess.run([CTL, f"-pipe-prefix={self.prefix}", "-timeout=500ms", *verb],
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, DONE if verb == ("list",) else REFUSED, (verb, done))
            self.assertLess(time.monotonic() - begin, 20, verb)
            if verb != ("list",):
                self.assertIn(b"nothing came within 500 ms", done.stderr)

    def test_top_ends_during_a_call(self):
        for key in ("q", "\x03"):
            terminal = Terminal([CTL, f"-pipe-prefix={self.prefix}", "-timeout=1h", "top"])
            self.addCleanup(terminal.close)
            terminal.read(r"\x1b\[\?1049h")
            terminal.send(key)
            terminal.read()
            self.assertEqual(terminal.process.wait(LIMIT_S), DONE)
            self.assertTrue(terminal.text.endswith("\x1b[?25h\x1b[?1049l"), terminal.text)
            self.assertEqual(terminal.settings()[3] & termios.ICANON, termios.ICANON)
            self.assertEqual(terminal.settings(), terminal.before)


if __name__ == "__main__":
    unittest.main()
