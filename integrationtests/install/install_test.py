#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""csi-proxy.exe install, uninstall, upgrade and -keep under Wine's service manager.

usage: install_test.py CSI_PROXY_EXE TESTTOOL_EXE SERVICETOOL_EXE LINGERING_EXE [CLASS.test ...]
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "wine"))
import harness  # noqa: E402
from harness import Settings, WineTest, run, testtool, unique  # noqa: E402

EXIT_CONFIG = 2
EXIT_FAILED = 3
STOPPED, RUNNING = "1", "4"
DEMAND, DISABLED = "3", "4"
EVENT_SOURCE = r"HKLM\SYSTEM\CurrentControlSet\Services\EventLog\Application\csi-proxy"
SERVICETOOL = ""
LINGERING = ""
DRIVE_C = pathlib.Path()


def windows_path(path):
    path = pathlib.Path(path)
    if path.is_relative_to(DRIVE_C):
        return "C:\\" + str(path.relative_to(DRIVE_C)).replace("/", "\\")
    return harness.windows_path(path)


class InstallTest(WineTest):
    """Each test has a service, a pipe prefix and a directory of its own."""

    def setUp(self):
        super().setUp()
        self.service = unique("csiproxy")
        # On drive C: whoever may log on may write in /tmp.
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(
            prefix="csi install ", dir=DRIVE_C)))
        self.target = self.directory / "bin" / "csi-proxy.exe"
        self.addCleanup(run, "reg", "delete", EVENT_SOURCE, "/f")
        self.addCleanup(run, "sc", "delete", self.service)
        self.addCleanup(run, Settings.testtool, "kill", self.service)

    def verb(self, verb, *flags, exe=None, expected=0):
        done = run(str(exe or Settings.exe), verb, "-name=" + self.service, *flags, timeout_s=90)
        self.assertEqual(done.code, expected, f"{verb} {flags}: {done}")
        return done

    def flags(self, *more):
        return ["-pipe-prefix=" + self.prefix, "-working-dir=C:\\var", "-logtostderr=false",
                "-log_file=" + windows_path(self.directory / "logs" / "a b.log"), *more]

    def install(self, *more, **options):
        return self.verb("install", "-to", windows_path(self.target), *self.flags(*more), **options)

    def config(self):
        done = run(SERVICETOOL, self.service)
        self.assertEqual(done.code, 0, done)
        if done.out == "absent\n":
            return None
        return dict(line.split(": ", 1) for line in done.out.splitlines())

    def set(self, start, account, description):
        """What an administrator might do with sc.exe, of which Wine's knows little."""
        done = run(SERVICETOOL, self.service, start, account, description)
        self.assertEqual(done.code, 0, done)

    def state(self):
        return self.config()["state"]

    def await_state(self, state):
        end = time.monotonic() + harness.WAIT_S
        while self.state() != state and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(self.state(), state)

    def assert_serves(self):
        self.assertEqual(self.state(), RUNNING)
        self.assertEqual(testtool("probe", self.pipe()), "open")

    def newer(self):
        """The same program, as another version of it would be: other bytes."""
        path = self.directory / "download" / "csi-proxy.exe"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(Settings.exe, path)
        with open(path, "ab") as file:
            file.write(b"newer")
        return path

    @staticmethod
    def same(path, other):
        return pathlib.Path(path).read_bytes() == pathlib.Path(other).read_bytes()

    def old(self):
        return self.target.with_name(self.target.name + ".old")

    def new(self):
        return self.target.with_name(self.target.name + ".new")


class Usage(InstallTest):
    def test_help_is_about_the_verb(self):
        for verb, word in [("install", "-keep"), ("uninstall", "-force"), ("upgrade", "-keep-flags")]:
            done = run(Settings.exe, verb, "-help")
            self.assertEqual(done.code, 0, done)
            self.assertIn(f"Usage of csi-proxy {verb}:", done.err)
            self.assertIn(word, done.err)

    def test_wrong_usage_changes_nothing(self):
        for flag, text in [("-no-such-flag", "flag provided but not defined: -no-such-flag"),
                           ("stray", "argument is not a flag: stray"),
                           ("-v=x", "invalid value"),
                           ("-kubelet-path=relative", "the flags of the service are not valid"),
                           ("-version", "a service cannot have -version")]:
            done = self.verb("install", flag, expected=EXIT_CONFIG)
            self.assertIn(text, done.err)
            self.assertIsNone(self.config())


class Install(InstallTest):
    def test_the_folder_of_the_audit_log_is_made(self):
        audit = self.directory / "audit" / "a.json"
        self.install("-audit-log=" + windows_path(audit))
        self.assertTrue(audit.exists())

    def test_the_recipe(self):
        done = self.install("-stop-grace-period=7s")
        self.assertIn("23 pipes answer", done.out)
        self.assert_serves()
        config = self.config()
        self.assertEqual(config["type"], "16")
        self.assertEqual(config["start"], "2")
        self.assertEqual(config["account"], "LocalSystem")
        self.assertEqual(config["display name"], f"CSI Proxy ({self.service})")
        self.assertTrue(config["description"].startswith("Formats disks, "))
        self.assertEqual(config["preshutdown ms"], "22000")
        log = windows_path(self.directory / "logs" / "a b.log")
        self.assertEqual(config["command line"],
                         f'"{windows_path(self.target)}" -windows-service -pipe-prefix={self.prefix} '
                         f'-working-dir=C:\\var -logtostderr=false "-log_file={log}" -stop-grace-period=7s')
        self.assertTrue(self.same(self.target, Settings.exe))
        source = run("reg", "query", EVENT_SOURCE)
        self.assertIn(windows_path(self.target), source.out)
        self.assertRegex(source.out, r"TypesSupported\s+REG_DWORD\s+0x7")
        self.assertRegex(source.out, r"CategoryCount\s+REG_DWORD\s+0x[1-9]")

        again = self.install("-stop-grace-period=7s")
        self.assertIn("installed already, just like that", again.out)
        other = self.install("-stop-grace-period=8s", expected=EXIT_FAILED)
        self.assertIn("-stop-grace-period=8s", other.out)
        self.assertIn("use the verb upgrade", other.err)
        self.assertEqual(self.config(), config, "neither changed anything")

        removed = self.verb("uninstall")
        self.assertIn("its logs are left", removed.out)
        self.assertTrue(self.target.exists())
        self.assertIsNone(self.config())
        self.assertEqual(testtool("probe", self.pipe()), "absent")
        self.assertNotEqual(run("reg", "query", EVENT_SOURCE).code, 0)
        self.assertIn("Running as a Windows service", (self.directory / "logs" / "a b.log").read_text())
        self.assertIn(f"there is no service {self.service}", self.verb("uninstall").out)

    def test_under_the_usual_name_and_the_usual_pipes(self):
        self.service = "csiproxy"
        self.assertIsNone(self.config(), "something else has left its service here")
        self.addCleanup(run, Settings.exe, "uninstall")
        done = run(Settings.exe, "install", "-to", windows_path(self.target))
        self.assertEqual(done.code, 0, done)
        config = self.config()
        self.assertEqual(config["display name"], "CSI Proxy")
        self.assertIn(r" -windows-service -log_file=C:\etc\kubernetes\logs\csi-proxy.log -logtostderr=false "
                      "-log_file_max_size=100", config["command line"])
        self.assertEqual(testtool("probe", r"\\.\pipe\csi-proxy-disk-v1"), "open")
        done = run(Settings.exe, "uninstall")
        self.assertEqual(done.code, 0, done)
        self.assertIsNone(self.config())

    def test_it_can_be_installed_without_a_start(self):
        self.verb("install", "-start=false", "-exe", windows_path(Settings.exe), *self.flags())
        self.assertEqual(self.state(), STOPPED)
        self.install("-start=false", expected=EXIT_FAILED)
        self.verb("install", "-exe", windows_path(Settings.exe), *self.flags())
        self.assert_serves()

    def test_a_start_that_fails_undoes_everything(self):
        self.helper("squat", self.pipe("volume-v1"), ready="squatting")
        done = self.install(expected=EXIT_FAILED)
        self.assertIn("the installation has been undone", done.out)
        self.assertIn("stopped with its own error 3", done.err)
        self.assertIsNone(self.config())
        self.assertFalse(self.target.exists())
        self.assertFalse(self.new().exists())
        self.assertNotEqual(run("reg", "query", EVENT_SOURCE).code, 0)

    def test_a_place_where_others_may_write_is_refused(self):
        self.target.parent.mkdir()
        self.target.parent.chmod(0o777)
        done = self.install(expected=EXIT_FAILED)
        self.assertIn("bin may be written by others than administrators", done.err)
        self.assertIsNone(self.config())
        self.assertEqual(list(self.target.parent.iterdir()), [])
        done = self.install("-start=false", "-force")
        self.assertIn("warning: ", done.out)
        self.assertTrue(self.target.exists())

    def test_the_event_source_of_another_service_stays(self):
        self.install("-start=false")
        first, second = self.service, unique("csiproxy")
        self.service, target, self.target = second, self.target, self.directory / "two" / "csi-proxy.exe"
        self.addCleanup(run, Settings.exe, "uninstall", "-name=" + second)
        self.install("-start=false")
        self.assertIn(windows_path(self.target), run("reg", "query", EVENT_SOURCE).out)
        self.service = unique("csiproxy")
        self.verb("uninstall")  # there is none of that name
        self.service = first
        self.verb("uninstall", "-delete-program")
        self.assertFalse(target.exists())
        self.assertIn(windows_path(self.target), run("reg", "query", EVENT_SOURCE).out)
        self.service = second
        self.verb("uninstall")
        self.assertNotEqual(run("reg", "query", EVENT_SOURCE).code, 0)
        self.verb("uninstall", "-delete-program", "-to", windows_path(self.target))
        self.assertFalse(self.target.exists(), "a removal that was interrupted is done to its end")

    def test_a_missing_program_is_named(self):
        done = self.verb("install", "-exe=C:\\no\\such\\csi-proxy.exe", *self.flags(), expected=EXIT_FAILED)
        self.assertIn("there is no program C:\\no\\such\\csi-proxy.exe", done.err)
        self.assertIsNone(self.config())

    def test_a_service_of_another_program_is_left_alone(self):
        run("sc", "create", self.service, "binPath=", "C:\\windows\\system32\\svchost.exe")
        before = self.config()
        for verb, *flags in [("uninstall",), ("upgrade",), ("install",), ("install", "-upgrade"),
                             ("install", "-keep")]:
            done = self.verb(verb, *flags, expected=EXIT_FAILED)
            self.assertIn("is not a csi-proxy but C:\\windows\\system32\\svchost.exe", done.err)
        self.assertEqual(self.config(), before)
        self.verb("uninstall", "-force")
        self.assertIsNone(self.config())


class Upgrade(InstallTest):
    def test_without_a_service_it_points_to_install(self):
        self.assertIn("use the verb install", self.verb("upgrade", expected=EXIT_FAILED).err)

    def test_the_flags_stay_and_changes_come_on_top(self):
        self.install("-v=1")
        newer = self.newer()
        done = self.verb("upgrade", "-v=2", "-working-dir=D:\\more", exe=newer)
        self.assertRegex(done.out, r"23 pipes answer, after a pause of \d+ ms")
        self.assert_serves()
        command = self.config()["command line"]
        self.assertTrue(command.startswith(f'"{windows_path(self.target)}" -windows-service '), command)
        for flag in ["-working-dir=C:\\var", "-working-dir=D:\\more", "-v=2", "-pipe-prefix=" + self.prefix]:
            self.assertIn(flag, command)
        self.assertNotIn("-v=1", command)
        self.assertTrue(self.same(self.target, newer))
        self.assertTrue(self.same(self.old(), Settings.exe))
        self.assertFalse(self.new().exists())

        process = self.config()["process"]
        self.assertIn("already", self.verb("upgrade", exe=newer).out)
        done = self.verb("install", "-upgrade", "-to", windows_path(self.target), exe=newer)
        self.assertIn("already", done.out)
        self.assertEqual(self.config()["process"], process, "nothing was restarted")
        self.verb("upgrade", "-keep-flags=false", *self.flags(), exe=newer)
        self.assertNotIn("-v=", self.config()["command line"])
        self.assertTrue(self.same(self.old(), Settings.exe), "the flags changed, not the file")
        self.verb("uninstall", "-delete-program")
        self.assertEqual(list(self.target.parent.iterdir()), [])

    def test_a_call_under_way_is_answered(self):
        self.install()
        call = self.helper("half-call", self.pipe(), ready="begun")
        upgrade = self.start(str(self.newer()), "upgrade", "-name=" + self.service)
        upgrade.wait_for_line("waiting for calls under way to end")
        self.assertNotEqual(testtool("probe", self.pipe()), "open", "new connections are refused")
        call.send_line()
        call.wait_for_line("answered")
        self.assertEqual(call.lines[-1], "answered")
        self.assertEqual(upgrade.wait(60), 0, upgrade.text())
        self.assert_serves()
        log = (self.directory / "logs" / "a b.log").read_text()
        self.assertNotIn("were cancelled", log)

    def test_a_new_program_that_does_not_start_is_taken_back(self):
        self.install()
        before = self.config()
        blocked = "\\\\.\\pipe\\" + unique("csi-blocked") + "-"
        self.helper("squat", blocked + "disk-v1", ready="squatting")
        done = self.verb("upgrade", "-pipe-prefix=" + blocked, exe=self.newer(), expected=EXIT_FAILED)
        self.assertIn("stopped with its own error 3", done.err)
        self.assertIn("everything is as it was before, and runs", done.out)
        after = self.config()
        del before["process"], after["process"]
        self.assertEqual(after, before)
        self.assert_serves()
        self.assertTrue(self.same(self.target, Settings.exe))

    def test_flags_that_are_wrong_do_not_stop_the_old_one(self):
        self.install()
        process = self.config()["process"]
        self.verb("upgrade", "-pipe-sddl=nonsense", exe=self.newer(), expected=EXIT_CONFIG)
        self.assertEqual(self.config()["process"], process)
        self.assertTrue(self.same(self.target, Settings.exe))
        self.assert_serves()

    def test_what_an_interrupted_upgrade_left_is_put_right_by_the_next(self):
        self.install("-start=false")
        self.verb("upgrade", "-start=false", exe=self.newer())
        self.assertEqual(self.state(), STOPPED)
        self.assertTrue(self.same(self.target, self.newer()))
        # Between the last rename and the start.
        done = self.verb("upgrade", exe=self.newer())
        self.assertIn("was stopped and runs now: 23 pipes answer", done.out)
        self.assert_serves()
        # Between the two renames.
        self.assertEqual(run("sc", "stop", self.service).code, 0)
        self.await_state(STOPPED)
        self.target.rename(self.old())
        self.verb("upgrade", "-start=false", "-v=1", exe=Settings.exe)
        self.assertTrue(self.same(self.target, Settings.exe))
        self.assertTrue(self.same(self.old(), self.newer()), "the former one was not lost")
        done = self.verb("install", "-upgrade", "-to", windows_path(self.target), exe=Settings.exe)
        self.assert_serves()

    def test_going_back_restores_what_somebody_else_has_set(self):
        self.install()
        self.set(DEMAND, "LocalSystem", "somebody's own")
        before = self.config()
        self.assertEqual((before["start"], before["description"]), (DEMAND, "somebody's own"))
        blocked = "\\\\.\\pipe\\" + unique("csi-blocked") + "-"
        self.helper("squat", blocked + "disk-v1", ready="squatting")
        self.verb("upgrade", "-pipe-prefix=" + blocked, exe=self.newer(), expected=EXIT_FAILED)
        after = self.config()
        del before["process"], after["process"]
        self.assertEqual(after, before)
        self.assert_serves()

    def test_another_account_and_a_disabled_service_are_left_as_they_are(self):
        self.install("-start=false")
        self.set(DISABLED, "LocalSystem", "x")
        self.verb("upgrade", exe=self.newer())
        self.assertEqual((self.config()["start"], self.state()), (DISABLED, STOPPED))
        self.assertTrue(self.same(self.target, self.newer()))
        self.set(DEMAND, "NT AUTHORITY\\LocalService", "x")
        before = self.config()
        done = self.verb("upgrade", exe=Settings.exe, expected=EXIT_FAILED)
        self.assertIn("runs as NT AUTHORITY\\LocalService, whose password cannot be put back", done.err)
        self.assertEqual(self.config(), before)
        self.assertTrue(self.same(self.target, self.newer()))

    def test_a_process_that_outlived_its_stopped_service_is_ended(self):
        original = self.directory / "bin" / "csi-proxy.exe"
        original.parent.mkdir()
        shutil.copy(LINGERING, original)
        command = f'"{windows_path(original)}" -windows-service -pipe-prefix={self.prefix}'
        self.assertEqual(run("sc", "create", self.service, "binPath=", command).code, 0)
        self.assertEqual(run("sc", "start", self.service).code, 0)
        self.assertEqual(run("sc", "stop", self.service).code, 0)
        self.await_state(STOPPED)
        done = self.verb("upgrade", *self.flags())
        self.assertRegex(done.out, r"its process \d+ goes on: ending it")
        self.assert_serves()

    def test_from_a_program_that_does_not_end(self):
        """As the original: STOPPED, and its process goes on with its pipes."""
        original = self.directory / "bin" / "csi-proxy-original.exe"
        original.parent.mkdir()
        shutil.copy(LINGERING, original)
        command = f'"{windows_path(original)}" -windows-service -pipe-prefix={self.prefix} ' \
                  "-v=5 -logtostderr false -v=9"
        self.assertEqual(run("sc", "create", self.service, "binPath=", command).code, 0)
        self.assertEqual(run("sc", "start", self.service).code, 0)
        process = self.config()["process"]
        done = self.verb("upgrade", *self.flags("-logtostderr=false"))
        self.assertIn('goes on with "false", which is no flag', done.out)
        self.assertIn(f"its process {process} goes on: ending it", done.out)
        self.assert_serves()
        self.assertRegex(self.config()["command line"], r"-v=5\b")
        self.assertNotIn("-v=9", self.config()["command line"])
        self.assertTrue(self.same(original, Settings.exe), "it stands where the original stood")
        self.assertTrue(self.same(f"{original}.old", LINGERING))


class Keep(InstallTest):
    """What a container of a DaemonSet runs."""

    def keep(self, *more, exe=None):
        keeper = self.start(str(exe or Settings.exe), "install", "-keep", "-name=" + self.service, "-to",
                            windows_path(self.target), *self.flags(*more))
        keeper.wait_for_line("keeping service")
        return keeper

    def end(self, keeper):
        keeper.interrupt()
        self.assertEqual(keeper.wait(), 0, keeper.text())
        self.assert_serves()

    def test_it_installs_repairs_and_leaves_the_service_running(self):
        keeper = self.keep()
        self.assert_serves()
        self.assertEqual(run("sc", "stop", self.service).code, 0)
        keeper.wait_for_line("is stopped: starting it")
        self.await_state(RUNNING)
        self.assert_serves()
        self.end(keeper)
        process = self.config()["process"]

        keeper = self.keep()
        self.end(keeper)
        self.assertEqual(self.config()["process"], process, "it was right already")

        keeper = self.keep("-v=1", exe=self.newer())
        self.assertIn("is not as wanted: upgrading it", keeper.text())
        self.assertIn("-v=1", self.config()["command line"])
        self.assertFalse(self.same(self.target, Settings.exe))
        self.end(keeper)


    def test_what_went_back_is_not_tried_again_at_once(self):
        self.install()
        blocked = "\\\\.\\pipe\\" + unique("csi-blocked") + "-"
        self.helper("squat", blocked + "disk-v1", ready="squatting")
        keeper = self.start(str(self.newer()), "install", "-keep", "-name=" + self.service, "-to",
                            windows_path(self.target), *self.flags("-pipe-prefix=" + blocked))
        keeper.wait_for_line("the upgrade is tried again in 600 s")
        self.assert_serves()
        self.assertTrue(self.same(self.target, Settings.exe))
        self.end(keeper)


def main():
    global SERVICETOOL, LINGERING, DRIVE_C
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    SERVICETOOL, LINGERING = (str(pathlib.Path(path).resolve()) for path in sys.argv[3:5])
    del sys.argv[3:5]
    prefix = subprocess.run([harness.WINE, "--prefix"], check=True, capture_output=True, text=True).stdout
    DRIVE_C = pathlib.Path(prefix.strip()) / "drive_c"
    harness.main(sys.modules[__name__])


if __name__ == "__main__":
    main()
