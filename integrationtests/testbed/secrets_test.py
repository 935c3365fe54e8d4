#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""secrets_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: passwords and CHAP secrets that csi-proxy is
given are found nowhere afterwards: in no log however it is told to log, in no error, in no output, and
nowhere in the memory of its process."""

import base64
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import cases
import scenarios_test
import testbed
from scenarios_test import CallFailed
from testbed import harness

ROOT = "\\\\files\\secrets"
USER = "CONTOSO\\keeper"
PORTAL = "192.0.2.77:3260"
SHORT_PIECE = 8  # characters of a short secret that must not be found either
PIECE = 12  # of a long one
PIECE_EVERY = 40  # characters; what is cut out of a long secret has one of the pieces in it, if it is long enough
PAGE_BYTES = 4096
SKIPPED_SHARE = 0.02  # of the memory that cannot be read, at most
NEIGHBOURS_BYTES = 48  # shown around what was found
CHUNK_BYTES = 16 << 20
SETTLE_S = 20  # for buffers of connections that have just been closed


def new_secret(length=16):
    """No text that anything else would have."""
    return "".join(secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789") for _ in range(length))


def base64_cores(raw):
    """What any base64 of something with raw in it has: the digits that raw alone decides."""
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw)
        first = (0, 2, 3)[shift]
        last = (shift + len(raw)) * 8 // 6
        yield text[first:last]


def pieces_of(secret):
    """From the beginning, the middle and the end, and of a long secret, from everywhere."""
    size = PIECE if len(secret) >= 2 * PIECE else max(SHORT_PIECE, len(secret) // 2)
    last = max(0, len(secret) - size)
    begins = {0, last // 2, last, *range(0, last, PIECE_EVERY)}
    return {secret[begin:begin + size] for begin in begins}


def patterns_of(secret, whole=False):
    """{bytes: what they are}: pieces of a secret, or all of it, as they might stand in a memory or a file."""
    patterns = {}
    for piece in {secret} if whole else pieces_of(secret):
        for name, raw in (("UTF-8", piece.encode()), ("UTF-16", piece.encode("utf-16-le"))):
            patterns[raw] = f"{piece} in {name}"
            for core in base64_cores(raw):
                patterns[core] = f"{piece} in base64 of {name}"
        patterns[piece.encode().hex().encode()] = f"{piece} in hexadecimal digits"
    return patterns


def all_patterns(all_secrets):
    return {raw: name for secret in all_secrets for raw, name in patterns_of(secret).items()}


def find(data, patterns):
    """[(offset, name)]"""
    found = []
    for raw, name in patterns.items():
        offset = data.find(raw)
        if offset >= 0:
            found.append((offset, name))
    return found


TEXTS = tuple(re.compile(form) for form in (rb"[\x20-\x7e]{8,}", rb"(?:[\x20-\x7e]\0){8,}"))


def find_in_texts(data, patterns):
    """As find(), for data of which little is text and patterns that are nothing else: faster for many."""
    texts = b"\n".join(found.group() for form in TEXTS for found in form.finditer(data))
    return find(data, {raw: patterns[raw] for raw in patterns if raw in texts}) if texts else []


def show(data, offset):
    return repr(data[max(0, offset - NEIGHBOURS_BYTES):offset + NEIGHBOURS_BYTES])


def mappings(pid):
    """[(begin, end, rights, name)] of a process."""
    rows = []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        words = line.split(None, 5)
        begin, _, end = words[0].partition("-")
        rows.append((int(begin, 16), int(end, 16), words[1], words[5] if len(words) > 5 else ""))
    return rows


def read_mapping(memory, begin, end):
    """[(address, bytes)]: what can be read. A page that cannot be is left out, not what comes behind it."""
    address = begin
    while address < end:
        try:
            memory.seek(address)
            data = memory.read(min(CHUNK_BYTES, end - address))
        except OSError:
            data = b""
        if data:
            yield address, data
            address += len(data)
        else:
            address = (address // PAGE_BYTES + 1) * PAGE_BYTES


def overlapping(chunks, overlap):
    """Each with the end of the one before it, where they meet: what lies across is in one piece, too."""
    before, before_end = b"", None
    for address, data in chunks:
        if address == before_end:
            address, data = address - len(before), before + data
        yield address, data
        before, before_end = data[-overlap:], address + len(data)


def search_memory(pid, patterns):
    """Texts that say what was found where; and how many bytes were searched. AssertionError when too much
    could not be."""
    overlap = max(len(raw) for raw in patterns)
    found, searched, wanted = [], 0, 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for begin, end, rights, name in mappings(pid):
            if "r" not in rights or name.startswith("[v"):
                continue
            wanted += end - begin
            chunks = list(read_mapping(memory, begin, end))
            searched += sum(len(data) for _, data in chunks)
            for address, data in overlapping(chunks, overlap):
                for at, text in find_in_texts(data, patterns):
                    found.append(f"{text} at {address + at:#x}, {rights} mapping {begin:#x}-{end:#x} {name}: "
                                 f"{show(data, at)}")
    if wanted == 0 or wanted - searched > SKIPPED_SHARE * wanted:
        raise AssertionError(f"{wanted - searched} of {wanted} bytes of the process cannot be read")
    return found, searched


def search_settled_memory(pid, patterns):
    """What a connection has received is freed some time after its call; what is left is left for good."""
    end = time.monotonic() + SETTLE_S
    while True:
        found, searched = search_memory(pid, patterns)
        if not found or time.monotonic() > end:
            return found, searched
        time.sleep(0.5)


class Search(unittest.TestCase):
    """The search finds what is there: otherwise the other tests would show nothing."""

    def hold(self, text):
        """A process that has the text in its memory and nowhere else."""
        program = "import sys; kept = eval(sys.stdin.readline()); print('ready', flush=True); sys.stdin.read()"
        process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        process.stdin.write(repr(text).encode() + b"\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process.pid

    def test_memory(self):
        secret = new_secret()
        forms = {
            "UTF-8": f"x{secret}y".encode(),
            "half": secret[8:].encode(),
            "UTF-16": secret.encode("utf-16-le"),
            "base64": base64.b64encode(b"user:" + secret.encode()),
            "base64 of UTF-16": base64.b64encode(secret.encode("utf-16-le")),
            "hex": secret.encode().hex().encode(),
        }
        for name, form in forms.items():
            with self.subTest(name):
                found, searched = search_memory(self.hold(form), all_patterns([secret]))
                self.assertTrue(found, f"{name} is not found")
                self.assertGreater(searched, 1 << 20)

    def test_pieces(self):
        """Of a long secret the beginning, or a piece from anywhere, in every form."""
        secret = new_secret(200)
        patterns = all_patterns([secret])
        for piece in (secret[:90], secret[-90:], secret[100:160], secret[7:60], secret[30:100]):
            for form in (piece.encode(), piece.encode("utf-16-le"), base64.b64encode(piece.encode()),
                         base64.b64encode(piece.encode("utf-16-le")), piece.encode().hex().encode()):
                with self.subTest(form[:20]):
                    data = b"\0\xff" + form + b"\x01\0"
                    self.assertTrue(find(data, patterns))
                    self.assertTrue(find_in_texts(data, patterns))
        for length in (8, 9, 13, 16, 23, 24, 40, 41, 2000):
            secret = new_secret(length)
            for piece in (secret, secret[:length // 2 + 4], secret[-(length // 2 + 4):]):
                self.assertTrue(find_in_texts(piece.encode(), all_patterns([secret])), (length, len(piece)))

    def test_truncated_in_memory(self):
        secret = new_secret(200)
        found, _ = search_memory(self.hold(secret[:90].encode()), all_patterns([secret]))
        self.assertTrue(found)

    def test_pages_that_cannot_be_read(self):
        """They are left out, and nothing else; a secret that lies across two reads is found."""
        secret, page = new_secret().encode(), PAGE_BYTES
        content = (b"." * (2 * page - 8) + secret).ljust(6 * page, b".")

        class Memory:
            """Reads no further than to the end of a page, and not from the fourth."""

            def seek(self, address):
                self.address = address

            def read(self, size):
                if self.address // page == 3:
                    raise OSError(5, "Input/output error")
                return content[self.address:min(self.address + size, (self.address // page + 1) * page)]

        chunks = list(read_mapping(Memory(), 0, 6 * page))
        self.assertEqual([address // page for address, _ in chunks], [0, 1, 2, 4, 5])
        self.assertTrue(any(secret in data for _, data in overlapping(chunks, 16)))
        self.assertEqual([address for address, _ in overlapping(chunks, 16)],
                         [0, page - 16, 2 * page - 16, 4 * page, 5 * page - 16])

    def test_nothing(self):
        found, _ = search_memory(self.hold(b"nothing of interest"), all_patterns([new_secret()]))
        self.assertEqual(found, [])

    def test_base64(self):
        for before in range(4):
            for after in range(4):
                secret = new_secret().encode()
                text = base64.b64encode(b"p" * before + secret + b"q" * after)
                self.assertTrue(any(core in text for core in base64_cores(secret)), (before, after))


class SecretsTest(scenarios_test.ServiceTest):
    """With everything logged."""

    limit_s = 300

    def setUp(self):
        self.logs = pathlib.Path(tempfile.mkdtemp(prefix="csi-secrets-"))
        self.addCleanup(shutil.rmtree, self.logs, ignore_errors=True)
        super().setUp()
        self.secrets, self.answers = [], []

    def flags(self):
        """With audit records and events of every call, too."""
        return ("-v=10", "-event-log=all", f"-audit-log={testbed.windows_path(self.logs / 'audit.json')}")

    def secret(self, length=16):
        made = new_secret(length)
        self.secrets.append(made)
        return made

    def make(self, rpc, *arguments):
        """A call, whatever comes of it; True when it succeeded."""
        try:
            self.answers += [str(words) for words in self.call(rpc, *arguments)]
            return True
        except CallFailed as failure:
            self.answers.append(str(failure))
            return False

    def assert_nothing_left(self):
        patterns = all_patterns(self.secrets)
        problems = [f"in an answer: {text}" for text in self.answers if find(text.encode(), patterns)]
        problems += self.search_logs(patterns)
        found, searched = search_settled_memory(self.daemon.pid, patterns)
        self.assertGreater(searched, 4 << 20, "the memory was not searched")
        problems += [f"in memory: {text}" for text in found]
        if problems:
            self.fail("\n" + "\n".join(problems))

    def search_logs(self, patterns):
        problems = []
        data = "\n".join(self.daemon.log()).encode()
        problems += [f"in the output: {text}: {show(data, at)}" for at, text in find(data, patterns)]
        for file in self.logs.rglob("*"):
            if file.is_file() and not file.is_symlink():
                data = file.read_bytes()
                problems += [f"in {file.name}: {text}: {show(data, at)}" for at, text in find(data, patterns)]
        return problems

    def assert_logged(self, text):
        """The search looks at the right files: what is no secret is there."""
        end = time.monotonic() + harness.WAIT_S
        while not self.search_logs({text.encode(): text}):
            self.assertLess(time.monotonic(), end, f"\"{text}\" is not logged")
            time.sleep(0.1)

    def assert_audited(self, text):
        """The calls are in the audit log, with their secrets blanked."""
        records = [json.loads(line) for line in (self.logs / "audit.json").read_text("utf-8").splitlines()]
        self.assertTrue([record for record in records if text in record["object"]], records)

    # ---- Calls with secrets.

    def shares(self):
        """Good, wrong, too long and malformed passwords."""
        password = self.secret()
        self.bed.add_share(ROOT, user=USER, password=password)
        self.assertTrue(self.make("NewSmbGlobalMapping", ROOT, USER, password))
        self.assertTrue(self.make("NewSmbGlobalMapping", ROOT, USER, password))
        self.assertFalse(self.make("NewSmbGlobalMapping", "\\\\nobody\\share", USER, self.secret()))
        rotated = self.secret(40)
        self.bed.set_share(ROOT, password=rotated)
        self.make("NewSmbGlobalMapping", ROOT, USER, rotated)  # whether it is tried depends on the executable
        self.assertTrue(self.make("RemoveSmbGlobalMapping", ROOT))
        self.assertTrue(self.make("NewSmbGlobalMapping", ROOT, USER, rotated))
        self.assertTrue(self.make("RemoveSmbGlobalMapping", ROOT))
        self.assertFalse(self.make("NewSmbGlobalMapping", ROOT, USER, self.secret()))
        for bad in (self.secret(900), self.secret(2000), self.secret() + "\n\r\t\x01", "\u20ac" + self.secret()):
            self.assertFalse(self.make("NewSmbGlobalMapping", ROOT, USER, bad))
        self.assertFalse(self.make("NewSmbGlobalMapping", "no share", USER, self.secret()))
        self.assertFalse(self.make("NewSmbGlobalMapping", ROOT, "-", self.secret()))

    def targets(self):
        """CHAP secrets of targets, and the node's own."""
        iqn, secret, mutual = "iqn.2004-10.com.example:secrets", self.secret(14), self.secret(15)
        self.bed.command(f"target add iqn={iqn} portal={PORTAL} chap-user=keeper chap-secret={secret} "
                         f"mutual-secret={mutual}")
        self.make("AddTargetPortal", PORTAL)
        self.assertFalse(self.make("ConnectTarget", PORTAL, iqn, "chap", "keeper", self.secret(13)))
        for length in (8, 17, 200, 400):
            self.assertFalse(self.make("ConnectTarget", PORTAL, iqn, "chap", "keeper", self.secret(length)))
            self.assertFalse(self.make("SetMutualChapSecret", self.secret(length)))
        self.assertTrue(self.make("SetMutualChapSecret", mutual))
        self.assertTrue(self.make("ConnectTarget", PORTAL, iqn, "mutual", "keeper", secret))
        self.assertTrue(self.make("ConnectTarget", PORTAL, iqn, "mutual", "keeper", secret))
        self.assertTrue(self.make("DisconnectTarget", PORTAL, iqn))
        self.assertTrue(self.make("ConnectTarget", PORTAL, iqn, "chap", "keeper", secret))
        self.assertTrue(self.make("DisconnectTarget", PORTAL, iqn))


class Memory(SecretsTest):
    ADD = "WNetAddConnection4W"

    def test_shares(self):
        self.shares()
        self.assert_nothing_left()
        self.assert_audited("password=***")

    def test_targets(self):
        self.targets()
        self.assert_nothing_left()
        self.assert_audited("chap_secret=***")

    def test_calls_that_are_given_up(self):
        """The system's call hangs, its client goes; at last the call returns. While it hangs, the password has
        to be in the memory: the same search finds it."""
        password = self.secret()
        self.bed.add_share(ROOT, user=USER, password=password)
        self.bed.command(f"network fault add call={self.ADD} hang")
        self.deadline(1500)
        self.assertFalse(self.make("NewSmbGlobalMapping", ROOT, USER, password))
        found, _ = search_memory(self.daemon.pid, all_patterns([password]))
        self.assertTrue(found, "the search does not find a password that is there")
        self.bed.command("network fault clear")
        self.assert_nothing_left()

    def test_a_client_that_has_gone(self):
        password = self.secret()
        self.bed.add_share(ROOT, user=USER, password=password)
        self.assertTrue(self.make("NewSmbGlobalMapping", ROOT, USER, password))
        self.client.kill()
        self.assert_nothing_left()

    def test_what_is_no_secret_is_found(self):
        """The same search, in the same process, of something that has to be there."""
        found, _ = search_memory(self.daemon.pid, all_patterns([self.daemon.prefix.rpartition("\\")[2]]))
        self.assertTrue(found)


class Mi(Memory):
    """By the other way to global mappings."""

    ADD = "MSFT_SmbGlobalMapping.Create"

    def flags(self):
        return (*super().flags(), "-smb-route=mi")


class Trials(SecretsTest):
    """With a server that can be asked about credentials."""

    def executable(self):
        return self.bed.build.with_links

    def test_shares(self):
        self.shares()
        self.assert_nothing_left()


class GoClient(SecretsTest):
    """The published Go client, with the calls of the interop tests: its secrets are constants."""

    SOURCES = pathlib.Path(__file__).resolve().parent.parent / "go" / "interop"

    def test_interop(self):
        programs = self.bed.build.directory / "integrationtests" / "go"
        self.assertTrue((programs / "interop-current.exe").exists(),
                        f"{programs} has no interop-current.exe: build the target go_programs "
                        "(scripts/build.sh windows-release go_programs)")
        text = "\n".join(file.read_text() for file in sorted(self.SOURCES.glob("*.go")))
        constants = re.findall(r'(?:smbPassword|smbRotated|[a-z]+Secret) += ("[^"]+")', text)
        self.secrets = [json.loads(constant) for constant in constants]
        self.assertGreaterEqual(len(self.secrets), 4, "the secrets of the interop tests have other names")
        shutil.copy(programs / "bcryptprimitives.dll", self.bed.prefix / "drive_c" / "windows" / "system32")
        environment = dict(self.bed.environment, CSI_TESTBED_IMAGES=testbed.windows_path(self.bed.images),
                           CSI_TESTBED_CONTROL=testbed.windows_path(self.bed.build.control))
        for group in ("smb", "iscsi"):
            done = subprocess.run([harness.WINE, str(programs / "interop-current.exe"), "-no-links",
                                   f"-pipe-format={self.daemon.endpoint_format}", f"-group={group}"],
                                  env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=self.limit_s, check=False)
            self.assertRegex(done.stdout.decode("utf-8", "replace"), r"(?m)^[1-9]\d* passed, ")
        patterns = {raw: name for secret in self.secrets for raw, name in patterns_of(secret, whole=True).items()}
        found, _ = search_settled_memory(self.daemon.pid, patterns)
        self.assertEqual(found + self.search_logs(patterns), [])


class _LoggingDaemon(testbed.Daemon):
    """One that may say nothing on its output. Its log files are in a folder."""

    def __init__(self, exe, prefix, flags, folder):
        self.prefix = prefix
        self._running = harness.Running(str(exe), f"-pipe-prefix={prefix}", *flags)
        end = time.monotonic() + testbed.READY_S
        while "] Serving " not in self.all_logs(folder):
            if time.monotonic() > end or not self.is_running():
                self.kill()
                raise testbed.Failed(f"csi-proxy did not start: {self.all_logs(folder)}")
            time.sleep(0.05)

    def all_logs(self, folder):
        files = [file.read_text("utf-8", "replace") for file in folder.iterdir() if file.is_file()]
        return "\n".join(self.log() + files)


class Logs(SecretsTest):
    """Every way to log."""

    variants = {
        "stderr": (),
        "one file": ("-logtostderr=false", "-log_file={dir}\\csi-proxy.log"),
        "a file for each severity": ("-logtostderr=false", "-log_dir={dir}"),
        "files and stderr": ("-logtostderr=false", "-alsologtostderr", "-log_dir={dir}"),
        "a file, and all to stderr": ("-logtostderr=false", "-stderrthreshold=INFO", "-log_file={dir}\\x.log"),
        "by module": ("-vmodule=*=10",),
    }

    def test_every_way(self):
        plain = self.daemon, self.client
        for name, flags in self.variants.items():
            with self.subTest(name):
                try:
                    self.run_with(flags)
                finally:
                    self.daemon, self.client = plain

    def run_with(self, flags):
        self.bed.reset()
        self.secrets, self.answers = [], []
        for file in self.logs.iterdir():
            file.unlink()
        directory = testbed.windows_path(self.logs)
        with _LoggingDaemon(self.executable(), testbed.PIPES + harness.unique("csi-secrets") + "-",
                            ("-v=10", f"-audit-log={directory}\\audit-too.json",
                             *(flag.replace("{dir}", directory) for flag in flags)), self.logs) as daemon:
            self.daemon, self.client = daemon, self.bed.calls(daemon)
            self.shares()
            self.targets()
            self.client.kill()
            self.assert_logged("keeper")
            self.daemon.stop()
        patterns = all_patterns(self.secrets)
        self.assertEqual(self.search_logs(patterns), [])
        self.assertEqual([text for text in self.answers if find(text.encode(), patterns)], [])


if __name__ == "__main__":
    if not os.access("/proc/self/mem", os.R_OK):
        sys.exit("error: the memory of processes cannot be read here")
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="another executable than the shipped one"))
