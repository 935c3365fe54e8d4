#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The disk testbed as a Python module and as a command: a Wine prefix with virtual disks, and csi-proxy in
it.

    with testbed.Testbed() as bed:
        bed.add_disk(3, "1G", serial="vol0123")
        with bed.daemon() as daemon:
            ... daemon.prefix is where its pipes are ...
        print(bed.counters())

There is one driver in a Wine prefix, so one testbed at a time runs in it; others wait for their turn. At the
end nothing of it is left: no process, no file. CSI_PROXY_WINEPREFIX names another prefix than the default,
CSI_PROXY_BUILD the folder of the builds.

As a command, for programs in any language:

    testbed.py run [--exe EXE] [--profile PROFILE] [--flag FLAG]... -- COMMAND [ARGUMENT...]
    testbed.py serve [--exe EXE] [--profile PROFILE] [--flag FLAG]...

docs/TESTBED.md has the commands and profiles.
"""

import argparse
import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import select
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "wine"))

import harness  # noqa: E402  (beside the life-cycle tests)

TURN_S = 1800  # for others that use the prefix
SESSION_S = 60  # for Wine to start or end
COMMAND_S = 60  # for one command of the testbed; those that wait have a limit of their own
READY_S = 30  # for csi-proxy to open its pipes

INSTALLED_IN = "csi-testbed"  # below drive C
PIPES = "\\\\.\\pipe\\"


class Failed(Exception):
    """Something the testbed was told to do did not work. The text is for people."""


def cache_directory():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("CSI_PROXY_CACHE") or os.path.join(base, "csi-proxy"))


def wine_prefix():
    """CSI_TESTBED_LANE is for testbeds that run beside each other; empty for the first."""
    lane = os.environ.get("CSI_TESTBED_LANE", "")
    return pathlib.Path(os.environ.get("CSI_PROXY_WINEPREFIX") or cache_directory() / f"wine-prefix-testbed{lane}")


def windows_path(unix_path):
    return harness.windows_path(unix_path)


class Build:
    """Where the programs are."""

    def __init__(self, directory=None):
        builds = pathlib.Path(os.environ.get("CSI_PROXY_BUILD") or REPOSITORY / "build")
        self.directory = pathlib.Path(directory or builds / "windows-release").resolve()
        testbed = self.directory / "integrationtests" / "testbed"
        self.driver = testbed / "driver" / "vdisk.sys"
        self.inf = HERE / "driver" / "vdisk.inf"
        self.control = testbed / "ctl" / "vdiskctl.exe"
        # What Wine lacks, with targets and so on of the testbed behind it.
        self.stand_ins = [testbed / name / f"{name}.dll" for name in ("fmifs", "iscsidsc", "mi", "mpr")]
        self.stand_ins.append(testbed / "mpr" / "credui.dll")
        self.test_service = testbed / "services" / "csi-test-service.exe"
        self.shipped = self.directory / "src" / "service" / "csi-proxy.exe"
        self.with_links = testbed / "links" / "csi-proxy-testbed.exe"
        self.calls = testbed / "calls" / "csi-proxy-calls.exe"

    def check(self):
        for file in (self.driver, self.inf, self.control, self.test_service, *self.stand_ins):
            if not file.exists():
                raise Failed(f"there is no {file}; build it: scripts/build.sh windows-release")


def parse_words(line):
    """`a=1 flag b=x` as a dictionary; flags have the value True."""
    words = {}
    for word in line.split():
        key, equals, value = word.partition("=")
        words[key] = value if equals else True
    return words


def escape(value):
    """A value as it stands in a command: bytes that a command cannot have as %XX."""
    plain = string.ascii_letters + string.digits + "\\:/._-{}@~()"
    return "".join(chr(byte) if chr(byte) in plain else f"%{byte:02X}" for byte in str(value).encode())


def size_bytes(size):
    """4096 of 4096 or "4K"."""
    if isinstance(size, int):
        return size
    number, suffix = re.fullmatch(r"(\d+)([KMGT]?)", size).groups()
    return int(number) << (" KMGT".index(suffix or " ") * 10)


class _Session:
    """The Wine session of a prefix, with the driver in it."""

    def __init__(self, prefix, build):
        self.prefix = prefix
        self.build = build
        self.environment = dict(os.environ, WINEPREFIX=str(prefix), CSI_PROXY_WINEPREFIX=str(prefix))
        self._installed = prefix / "csi-testbed-installed"

    def begin(self):
        subprocess.run([harness.WINE, "--prepare"], env=self.environment, check=True)
        # A session that somebody has left: with the driver in it as it was when it began.
        self.end()
        # Links and files of volumes that an earlier one has left; see links/record.h.
        shutil.rmtree(self.drive_c("testbed"), ignore_errors=True)
        self._put_files()
        self._prefer_stand_ins()
        if self._is_installed():
            self._wait_for_driver()
            return
        self._control("install", f"C:\\{INSTALLED_IN}", timeout_s=SESSION_S)
        self._installed.write_text(self._fingerprint())

    def end(self):
        self._wineserver("-k")  # fails when there is no session
        if self._wineserver("-w") != 0:
            raise Failed(f"the Wine session in {self.prefix} does not end")

    def _wineserver(self, option):
        try:
            return subprocess.run(["wineserver", option], env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SESSION_S,
                                  check=False).returncode
        except subprocess.TimeoutExpired:
            return 1

    def drive_c(self, *parts):
        return self.prefix.joinpath("drive_c", *parts)

    def _put_files(self):
        """Windows loads the driver from system32\\drivers; a driver that is there is exchanged in place."""
        directory = self.drive_c(INSTALLED_IN)
        directory.mkdir(exist_ok=True)
        shutil.copy(self.build.driver, directory / "vdisk.sys")
        shutil.copy(self.build.inf, directory / "vdisk.inf")
        (directory / "vdisk.cat").touch()
        for knobs in ("fmifs.txt", "network.txt"):
            (directory / knobs).unlink(missing_ok=True)
        for shares in (directory / "shares", self.prefix / "dosdevices" / "unc"):
            shutil.rmtree(shares, ignore_errors=True)
        shutil.copy(self.build.test_service, directory / "csi-test-service.exe")
        for library in self.build.stand_ins:
            shutil.copy(library, self.drive_c("windows", "system32", library.name))
        if self._is_installed():
            shutil.copy(self.build.driver, self.drive_c("windows", "system32", "drivers", "vdisk.sys"))

    def _prefer_stand_ins(self):
        """Wine takes its own DLL of a name unless its registry says otherwise."""
        registry = (self.prefix / "user.reg").read_text(encoding="utf-8", errors="replace")
        for name in (library.stem for library in self.build.stand_ins):
            if f'"{name}"="native"' not in registry:
                subprocess.run([harness.WINE, "reg", "add", "HKCU\\Software\\Wine\\DllOverrides", "/v", name,
                                "/d", "native", "/f"], env=self.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=COMMAND_S,
                               check=True)

    def _fingerprint(self):
        return hashlib.sha256(self.build.inf.read_bytes()).hexdigest()

    def _is_installed(self):
        """The .inf makes the device and the service; what the driver's file is does not matter for them."""
        return self._installed.exists() and self._installed.read_text() == self._fingerprint()

    def _control(self, *arguments, timeout_s=COMMAND_S):
        done = subprocess.run([harness.WINE, str(self.build.control), *arguments], env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False)
        if done.returncode != 0:
            raise Failed(done.stderr.decode("utf-8", "replace").strip() or f"vdiskctl {arguments[0]} failed")
        return done.stdout.decode("utf-8", "replace")

    def _wait_for_driver(self):
        """Windows starts it by itself, some time after the session has begun."""
        end = time.monotonic() + SESSION_S
        while True:
            try:
                self._control("run", "disk", "list")
                return
            except Failed:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)


class Conversation:
    """A Windows program that is asked line by line; its answers end with ". ok" or ". error: TEXT"."""

    def __init__(self, environment, *command):
        self._process = subprocess.Popen([harness.WINE, *command], env=environment, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                         start_new_session=True)
        self._pending = b""

    def ask(self, question, timeout_s):
        """The lines of the answer. Failed has the text of an error."""
        try:
            self._process.stdin.write(question.encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"{self._process.args[1]} has ended") from None
        lines = []
        end = time.monotonic() + timeout_s
        while True:
            text = self._read_line(question, end)
            if text == ". ok":
                return lines
            if text.startswith(". error: "):
                raise Failed(text.removeprefix(". error: "))
            lines.append(text)

    def _read_line(self, question, end):
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                raise Failed(f"\"{question}\" has not been answered in time")
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                raise Failed(f"{self._process.args[1]} has ended: {self._pending.decode('utf-8', 'replace')}")
            self._pending += more
        line, _, self._pending = self._pending.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


class Daemon:
    """A running csi-proxy. Its pipes are prefix + "disk-v1" and so on."""

    def __init__(self, exe, prefix, flags):
        self.prefix = prefix
        self._running = harness.Running(str(exe), f"-pipe-prefix={prefix}", *flags)
        try:
            self._running.wait_for_line("] Serving ", READY_S)
        except AssertionError as error:
            self.kill()
            raise Failed(f"csi-proxy did not start: {error}") from None

    @property
    def pid(self):
        return self._running.process.pid

    @property
    def endpoint_format(self):
        """For programs that stand on the C client library."""
        return self.prefix + "%s-%s"

    def log(self):
        """The lines it has logged so far."""
        if self.is_running():
            self._running.collect()
        return list(self._running.lines)

    def is_running(self):
        return self._running.process.poll() is None

    def stop(self, timeout_s=READY_S):
        """Ctrl-C; returns the exit code."""
        self._running.interrupt()
        try:
            return self._running.wait(timeout_s)
        finally:
            self.kill()

    def kill(self):
        """As a crash: nothing of it is cleaned up."""
        self._running.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Testbed:
    """The testbed in a Wine session of its own. Use it with `with`."""

    def __init__(self, build=None, images=None):
        self.build = build if isinstance(build, Build) else Build(build)
        self.prefix = wine_prefix()
        self._images_in = images
        self._stack = contextlib.ExitStack()
        self._shell = None
        self._session = _Session(self.prefix, self.build)
        self.environment = self._session.environment

    # ---- Beginning and end.

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.build.check()
        try:
            self._take_turn()
            # harness.Running starts programs with what is in the environment.
            self._set_environment("CSI_PROXY_WINEPREFIX", str(self.prefix))
            self._stack.callback(self._session.end)
            self._session.begin()
            self.images = pathlib.Path(self._stack.enter_context(self._images()))
            self._start_shell()
            self._stack.callback(self._end_shell)
            self.reset()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self._stack.close()

    def restart(self):
        """A new Wine session, for when the driver has died: what ran in the old one has ended."""
        self._end_shell()
        self._session.begin()
        self._start_shell()
        self.reset()

    def _take_turn(self):
        self.prefix.parent.mkdir(parents=True, exist_ok=True)
        lock = self._stack.enter_context(open(f"{self.prefix}.testbed.lock", "w", encoding="ascii"))
        end = time.monotonic() + TURN_S
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > end:
                    raise Failed(f"another testbed has been using {self.prefix} for {TURN_S} s; "
                                 "CSI_PROXY_WINEPREFIX names another prefix") from None
                if not told:
                    print(f"waiting for another testbed in {self.prefix}", file=sys.stderr, flush=True)
                    told = True
                time.sleep(0.2)

    def _set_environment(self, name, value):
        before = os.environ.get(name)
        os.environ[name] = value
        self._stack.callback(lambda: os.environ.pop(name, None) if before is None
                             else os.environ.__setitem__(name, before))

    def _images(self):
        """Image files are sparse and go up to 64 TiB, which not every file system takes: tmpfs does."""
        if self._images_in:
            directory = pathlib.Path(self._images_in).resolve()
            directory.mkdir(parents=True, exist_ok=True)
            return contextlib.nullcontext(directory)
        shared_memory = "/dev/shm"
        return tempfile.TemporaryDirectory(
            prefix="csi-testbed-", dir=shared_memory if os.access(shared_memory, os.W_OK) else None)

    def _start_shell(self):
        """One control program for all commands; it also keeps the session alive, whatever else ends."""
        self._shell = Conversation(self.environment, str(self.build.control), "shell")

    def _end_shell(self):
        self._shell.kill()

    # ---- Commands.

    def command(self, line, timeout_s=COMMAND_S):
        """Executes one command and returns the lines it answers. Failed says why it did not work."""
        return self._shell.ask(line, timeout_s)

    def reset(self):
        """Removes all disks, faults, counters and mount records. Image files stay."""
        self.command("reset")
        self.fmifs("")

    def apply(self, profile):
        """Executes the commands of a profile: a name in profiles/, or a path."""
        path = pathlib.Path(profile)
        if not path.is_file():
            path = HERE / "profiles" / f"{profile}.profile"
        if not path.is_file():
            raise Failed(f"there is no profile {profile}; there are: {', '.join(profiles())}")
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            line = line.replace("${images}", escape(windows_path(self.images)))
            try:
                self.command(line)
            except Failed as error:
                raise Failed(f"{path}:{number}: {error}") from None

    # ---- Disks and volumes.

    def image(self, number):
        """The file behind a disk that add_disk() made."""
        return self.images / f"disk{number}.img"

    def add_disk(self, number, size, *flags, file=None, **keys):
        """Adds a disk; returns its image file. Keys are those of `disk add`, with _ for -; page83 is written
        as the command has it, all others in plain text."""
        image = pathlib.Path(file) if file else self.image(number)
        words = [f"disk add number={number} size={size} file={escape(windows_path(image))}", *flags]
        for key, value in keys.items():
            words.append(f"{key.replace('_', '-')}={value if key == 'page83' else escape(value)}")
        self.command(" ".join(words))
        return image

    def remove_disk(self, number):
        self.command(f"disk remove number={number}")

    def disks(self):
        """{number: {word: value}} of `disk list`."""
        found = (parse_words(line) for line in self.command("disk list"))
        return {int(words["number"]): words for words in found}

    def volumes(self, disk=None):
        """The words of `volume list`, in order of disk and partition."""
        found = [parse_words(line) for line in self.command("volume list")]
        found.sort(key=lambda words: (int(words["disk"]), int(words["partition"])))
        return [words for words in found if disk is None or int(words["disk"]) == disk]

    def wait_for_volumes(self, disk, count=1, timeout_s=10):
        self.command(f"wait-volumes disk={disk} count={count} timeout={int(timeout_s * 1000)}",
                     timeout_s + COMMAND_S)
        return self.volumes(disk)

    # ---- Faults and counters.

    def fault(self, words):
        """`fault add`: "disk=3 call=DISK_GET_DRIVE_LAYOUT_EX fail=0xC0000185"."""
        self.command("fault add " + words)

    def clear_faults(self):
        self.command("fault clear")

    @contextlib.contextmanager
    def faults(self, *all_words):
        """Faults for the time of a block."""
        for words in all_words:
            self.fault(words)
        try:
            yield
        finally:
            self.clear_faults()

    # ---- The network: shares, and faults of the DLLs that stand for Windows' own.

    def add_share(self, root, **keys):
        """Adds a share; keys are those of `share add`, in plain text."""
        self.command(" ".join([f"share add root={escape(root)}",
                               *(f"{key}={escape(value)}" for key, value in keys.items())]))

    def set_share(self, root, **keys):
        self.command(" ".join([f"share set root={escape(root)}",
                               *(f"{key}={escape(value)}" for key, value in keys.items())]))

    def shares(self):
        """{root: {word: value}} of `share list`."""
        found = (parse_words(line) for line in self.command("share list"))
        return {words["root"]: words for words in found}

    def network_fault(self, words):
        """`network fault add`: "call=WNetAddConnection4W error=64"."""
        self.command("network fault add " + words)

    def network_counters(self):
        """{call: count} of the stand-in DLLs since the last reset."""
        found = (parse_words(line) for line in self.command("network counters"))
        return {words["call"]: int(words["count"]) for words in found}

    @property
    def fmifs_file(self):
        """What is in it is what the next calls of FormatEx do wrong; see fmifs/knobs.h."""
        return self._session.drive_c(INSTALLED_IN, "fmifs.txt")

    def fmifs(self, knobs):
        """Writes that file ("slow=100 hang"); "" for nothing wrong."""
        if knobs:
            self.fmifs_file.write_text(knobs, encoding="ascii")
        else:
            self.fmifs_file.unlink(missing_ok=True)

    def counters(self, reset=False):
        """{(object, call): count}, object "disk=3" or "volume={...}". With reset, counting begins anew."""
        counts = {}
        for line in self.command("counters reset" if reset else "counters"):
            words = parse_words(line)
            call, count = words.pop("call", None), words.pop("count", None)
            if call is None or count is None:
                continue
            (key, value), = words.items()
            counts[f"{key}={value}" if value is not True else key, call] = int(count)
        return counts

    def open_handles(self):
        """How many handles are open on disks and volumes."""
        return sum(count for (_, call), count in self.counters().items() if call == "HANDLES")

    # ---- Programs in this session.

    def daemon(self, exe=None, *flags, prefix=None):
        """Starts csi-proxy (the shipped executable unless another is given) with pipes of its own. It ends
        with the testbed at the latest."""
        prefix = prefix or PIPES + harness.unique("csi-testbed") + "-"
        daemon = Daemon(exe or self.build.shipped, prefix, flags)
        self._stack.callback(daemon.kill)
        return daemon

    def calls(self, daemon):
        """A client of a daemon, to be asked for RPCs by name: ask("PartitionDisk 3", 60)."""
        calls = Conversation(self.environment, str(self.build.calls), daemon.endpoint_format)
        self._stack.callback(calls.kill)
        return calls

    def run(self, *command, timeout_s=COMMAND_S):
        """Runs a Windows program to its end."""
        return harness.run(*(str(part) for part in command), timeout_s=timeout_s)


def profiles():
    return sorted(path.stem for path in (HERE / "profiles").glob("*.profile"))


# ---- The command.


def _executable(bed, name):
    return {"shipped": bed.build.shipped, "links": bed.build.with_links}.get(name, name)


def _environment(bed, daemon):
    """What a program needs to know to reach the testbed and the service."""
    return dict(bed.environment, CSI_PROXY_PIPE_PREFIX=daemon.prefix,
                CSI_PROXY_ENDPOINT_FORMAT=daemon.endpoint_format, CSI_TESTBED_CONTROL=str(bed.build.control),
                CSI_TESTBED_IMAGES=windows_path(bed.images),
                CSI_TESTBED_FMIFS=str(bed.fmifs_file))


def _run(bed, daemon, arguments):
    """COMMAND, in the environment it needs; returns its exit code."""
    child = subprocess.Popen(arguments.command, env=_environment(bed, daemon))
    try:
        return child.wait(arguments.timeout)
    except subprocess.TimeoutExpired:
        print(f"error: {arguments.command[0]} ran for more than {arguments.timeout} s", file=sys.stderr)
        return 124
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()


def _serve(bed, daemon, arguments):
    """Leaves everything running and executes commands from the terminal until there are no more of them."""
    print(f"csi-proxy runs: {_executable(bed, arguments.exe)}")
    print(f"its pipes: {daemon.prefix}disk-v1 and so on")
    for line in bed.command("disk list"):
        print(f"  disk {line}")
    for line in bed.command("volume list"):
        print(f"  volume {line}")
    print(f"""
Run your own Windows program against it, from another terminal:
  CSI_PROXY_WINEPREFIX={bed.prefix} {harness.WINE} PROGRAM.exe
Commands of the testbed can be typed here (disk list, volume list, show-disks, counters, fault add ...; log
shows csi-proxy's log). Ctrl-C or Ctrl-D ends everything.
""", flush=True)
    for line in sys.stdin:
        try:
            print("\n".join(daemon.log() if line.strip() == "log" else bed.command(line.strip(), 600)))
        except Failed as error:
            print(f"error: {error}")
        sys.stdout.flush()
    return 0


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="testbed.py", description="Programs against the disk testbed.")
    commands = parser.add_subparsers(dest="what", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--build", help="the Windows build (build/windows-release)")
    common.add_argument("--exe", default="shipped",
                        help="shipped (default), links (the executable with emulated links), or a path")
    common.add_argument("--profile", action="append", default=[],
                        help="a name in profiles/ or a path; none = no disks")
    common.add_argument("--flag", action="append", default=[],
                        help="a flag for csi-proxy: --flag=-kubelet-path=C:\\x")
    common.add_argument("--pipe-prefix", default=PIPES + "csi-proxy-",
                        help="where the pipes are (csi-proxy's default)")
    common.add_argument("--images", help="keep the image files in this directory")
    common.add_argument("--log", help="where csi-proxy's log goes at the end")
    run = commands.add_parser("run", parents=[common],
                              help="start Wine, the testbed and csi-proxy, run COMMAND, and end it all")
    run.add_argument("--timeout", type=float, default=None, help="seconds after which COMMAND is ended")
    run.add_argument("command", nargs="+", metavar="COMMAND",
                     help="a Linux command; WINEPREFIX is set for it")
    commands.add_parser("serve", parents=[common],
                        help="start Wine, the testbed and csi-proxy; read commands")
    commands.add_parser("profiles", help="list the profiles")
    return parser.parse_args(arguments)


def main():
    arguments = _parse(sys.argv[1:])
    if arguments.what == "profiles":
        print("\n".join(profiles()))
        return 0
    # So that everything is put away also when this is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with Testbed(arguments.build, arguments.images) as bed:
            for profile in arguments.profile:
                bed.apply(profile)
            daemon = bed.daemon(_executable(bed, arguments.exe), *arguments.flag,
                                prefix=arguments.pipe_prefix)
            try:
                return (_run if arguments.what == "run" else _serve)(bed, daemon, arguments)
            finally:
                if arguments.log:
                    pathlib.Path(arguments.log).write_text("\n".join(daemon.log()) + "\n", encoding="utf-8")
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
