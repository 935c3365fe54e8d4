#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""services_test.py [--build DIR] [--exe EXE] [CLASS.test ...]: csi-proxy's system group on Wine's service
manager, with services that start and stop slowly, badly, or not at all."""

import concurrent.futures
import re
import sys
import time

import cases
import scenarios_test
import testbed
from scenarios_test import CallFailed
from testbed import harness

STOPPED, START_PENDING, STOP_PENDING, RUNNING, PAUSED = 1, 2, 3, 4, 7
AUTOMATIC, MANUAL, DISABLED = 2, 3, 4
DEPENDENT_SERVICES_RUNNING = "1051"
INVALID_SERVICE_CONTROL = "1052"
FOREVER_MS = 3600 * 1000
SILENT_DEADLINE_MS = 15000  # less than csi-proxy's own patience
SERVICE_DISABLED = "1058"
SERVICE_DOES_NOT_EXIST = "1060"


class SystemTest(scenarios_test.ServiceTest):
    """Each test begins without test services."""

    def setUp(self):
        super().setUp()
        self.addCleanup(self.bed.command, "service remove all")

    def add(self, name, *flags, **keys):
        words = [f"service add name={testbed.escape(name)}", *flags]
        words += [f"{key.replace('_', '-')}={testbed.escape(value)}" for key, value in keys.items()]
        self.bed.command(" ".join(words).replace("%2C", ","))

    def state(self, name):
        """As the service manager has it, not as csi-proxy says."""
        for line in self.bed.command("service list"):
            words = testbed.parse_words(line)
            if words["name"] == name:
                return int(words["state"])
        return self.fail(f"there is no service {name}")

    def assert_state(self, state, *names):
        for name in names:
            self.assertEqual(self.state(name), state, name)

    def get(self, name):
        words = self.call("GetService", name)[0]
        return int(words["start"]), int(words["state"])

    def refused(self, *parts, rpc, arguments, precise=None, number=None):
        with self.assertRaises(CallFailed) as caught:
            self.call(rpc, *arguments)
        failure = caught.exception
        for part in parts:
            self.assertIn(part, failure.text)
        self.assertEqual(failure.code, "UNKNOWN")
        if precise:
            self.assertEqual(failure.precise, precise, failure.text)
        if number:
            self.assertEqual(failure.number, number, failure.text)
        return failure.text


class Services(SystemTest):
    """What does not depend on what a service needs."""

    def test_wines_own_services(self):
        for name in ("EventLog", "RpcSs", "PlugPlay", "rpcss"):
            start, state = self.get(name)
            self.assertIn(start, range(5))
            self.assertIn(state, range(1, 8))

    def test_get(self):
        self.add("csi-a", start="auto", state="running", display="csi-proxy's test service")
        self.add("csi-b", start="disabled")
        self.add("csi-c", state="paused")
        self.assertEqual(self.get("csi-a"), (AUTOMATIC, RUNNING))
        self.assertEqual(self.get("CSI-B"), (DISABLED, STOPPED))
        self.assertEqual(self.get("csi-c"), (MANUAL, PAUSED))

    def test_missing(self):
        text = "failed to get service nobody. error: failed to query service nobody: not found"
        for rpc, *arguments in (("GetService", "nobody"), ("StartService", "nobody"),
                                ("StopService", "nobody"), ("StopService", "nobody", "force")):
            self.refused(text, rpc=rpc, arguments=arguments, precise="NOT_FOUND",
                         number=SERVICE_DOES_NOT_EXIST)

    def test_bad_names(self):
        for name in ("-", "a/b", "a\\b", "n" * 257, "line\nbreak"):
            for rpc in ("GetService", "StartService", "StopService"):
                self.refused("failed to get service ", rpc=rpc, arguments=[name], precise="INVALID_ARGUMENT")

    def test_start_and_stop(self):
        """Each service once: Wine may lose one that is started while its old process ends."""
        for name in ("csi-a", "csi-b", "csi-c"):
            self.add(name)
            self.call("StartService", name)
            self.assert_state(RUNNING, name)
            self.call("StartService", name.upper())
            self.call("StopService", name)
            self.assert_state(STOPPED, name)
            self.call("StopService", name, "force")

    def test_slow(self):
        self.add("csi-a", start_delay=700, stop_delay=700)
        self.call("StartService", "csi-a")
        self.assert_state(RUNNING, "csi-a")
        self.call("StopService", "csi-a")
        self.assert_state(STOPPED, "csi-a")

    def test_pending(self):
        """A service that is on its way is waited for, whichever way that is. Nothing here ends by itself."""
        self.add("csi-a", start_delay=FOREVER_MS, stop_delay=FOREVER_MS)
        starting = self.in_background("StartService", "csi-a")
        self.wait_for(START_PENDING, "csi-a")
        stopping = self.in_background("StopService", "csi-a")
        self.assert_state(START_PENDING, "csi-a")
        self.bed.command("service finish name=csi-a")
        self.wait_for(STOP_PENDING, "csi-a")
        starting.join(scenarios_test.CALL_S)
        self.assertFalse(starting.is_alive(), "StartService does not return")
        self.assertIsNone(starting.failure)
        self.assertTrue(stopping.is_alive(), "StopService has not waited")
        self.bed.command("service finish name=csi-a")
        stopping.join(scenarios_test.CALL_S)
        self.assertFalse(stopping.is_alive(), "StopService does not return")
        self.assertIsNone(stopping.failure)
        self.assert_state(STOPPED, "csi-a")

    def wait_for(self, state, name):
        end = time.monotonic() + harness.WAIT_S
        while self.state(name) != state:
            self.assertLess(time.monotonic(), end, f"{name} is not in state {state}")
            time.sleep(0.02)

    def test_paused(self):
        self.add("csi-a", state="paused")
        self.refused("failed to wait for service csi-a state change. error: ", "it is paused",
                     rpc="StartService", arguments=["csi-a"], precise="FAILED_PRECONDITION")
        self.assert_state(PAUSED, "csi-a")
        self.call("StopService", "csi-a")
        self.assert_state(STOPPED, "csi-a")

    def test_start_fails(self):
        """With a delay: Wine's StartServiceW itself fails when the service is gone before it has returned."""
        self.add("csi-a", fail_start=5, start_delay=400)
        self.refused("failed to wait for service csi-a state change. error: ", "it stopped while it started: ",
                     "Access is denied.", rpc="StartService", arguments=["csi-a"], number="5")
        self.assert_state(STOPPED, "csi-a")

    def test_disabled(self):
        self.add("csi-a", start="disabled")
        self.refused("error starting service name csi-a. return value: 14, error: ", "start= demand",
                     rpc="StartService", arguments=["csi-a"], number=SERVICE_DISABLED)

    def test_refuses_to_stop(self):
        self.add("csi-a", "refuse-stop", state="running")
        self.refused("failed to stop service csi-a. error: error stopping service name csi-a. current state: Running",
                     "does not let itself be stopped", rpc="StopService", arguments=["csi-a", "force"],
                     number=INVALID_SERVICE_CONTROL)
        self.assert_state(RUNNING, "csi-a")

    def test_silent(self):
        """The deadline ends what makes no progress; other services do not wait meanwhile."""
        self.add("csi-a", "silent")
        self.add("csi-b")
        client = self.bed.calls(self.daemon)
        self.addCleanup(client.kill)
        client.ask(f"timeout {SILENT_DEADLINE_MS}", scenarios_test.CALL_S)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            starting = pool.submit(self.call, "StartService", "csi-a", client=client)
            self.wait_for(START_PENDING, "csi-a")
            self.call("StartService", "csi-b")
            self.assert_state(RUNNING, "csi-b")
            with self.assertRaises(CallFailed) as caught:
                starting.result(scenarios_test.CALL_S)
        self.assertEqual(caught.exception.code, "DEADLINE_EXCEEDED")
        self.assert_state(START_PENDING, "csi-a")

    def test_same_service_from_many(self):
        self.add("csi-a", start_delay=300, stop_delay=100)
        for rpc, state in (("StartService", RUNNING), ("StopService", STOPPED)):
            callers = [self.in_background(rpc, "csi-a") for _ in range(4)]
            for caller in callers:
                caller.join(scenarios_test.CALL_S)
                self.assertIsNone(caller.failure)
            self.assert_state(state, "csi-a")

    def test_serial_number(self):
        """Wine makes its own table of what the machine tells; the unit tests have others."""
        words = self.call("GetBIOSSerialNumber")
        self.assertEqual(len(words), 1)
        self.assertIn("serial", words[0])

    def test_protected(self):
        for name in ("RpcSs", "plugplay", "EVENTLOG"):
            self.refused(f"failed to stop service {name}. error: service {name} is protected",
                         "-protected-services", rpc="StopService", arguments=[name, "force"],
                         precise="FAILED_PRECONDITION")


    def test_drivers(self):
        """The testbed's own driver is safe."""
        for rpc in ("GetService", "StartService", "StopService"):
            self.refused("failed to get service mountmgr. error: failed to query service mountmgr: not found: ",
                         rpc=rpc, arguments=["mountmgr"], precise="NOT_FOUND")


class OtherProtection(SystemTest):
    def flags(self):
        return ("-protected-services=csi-a, Csi-B",)

    def test_list(self):
        for name in ("csi-a", "csi-b", "csi-c"):
            self.add(name, state="running")
        for name in ("CSI-A", "csi-b"):
            self.refused("is protected", rpc="StopService", arguments=[name])
        self.call("StopService", "csi-c")
        self.assert_state(RUNNING, "csi-a", "csi-b")


class Dependents(SystemTest):
    """Wine's service manager keeps no dependents: csi-proxy-testbed.exe has what Windows has."""

    def executable(self):
        return self.bed.build.with_links

    def flags(self):
        return ("-protected-services=csi-protected",)

    def stops(self):
        """The dependents that were stopped, in order. A line of the log arrives a moment after what it tells
        of: so one that comes later is waited for."""
        with self.assertRaises(CallFailed):
            self.call("StopService", "log-marker")
        end = time.monotonic() + harness.WAIT_S
        while "log-marker" not in "\n".join(self.daemon.log()):
            self.assertLess(time.monotonic(), end, "the log does not arrive")
            time.sleep(0.02)
        return re.findall(r"stopping service (\S+), which", "\n".join(self.daemon.log()))

    def chain(self, state="running"):
        self.add("csi-a", state="running")
        self.add("csi-b", state=state, depends="csi-a")
        self.add("csi-c", state="running", depends="csi-b")

    def test_without_force(self):
        self.chain()
        text = self.refused(
            "failed to stop service csi-a. error: error stopping service name csi-a. current state: Running",
            "csi-b", "csi-c", "use force", rpc="StopService", arguments=["csi-a"],
            precise="FAILED_PRECONDITION", number=DEPENDENT_SERVICES_RUNNING)
        self.assertIn("(2: ", text)
        self.assert_state(RUNNING, "csi-a", "csi-b", "csi-c")

    def test_chain(self):
        self.chain()
        self.call("StopService", "csi-a", "force")
        self.assert_state(STOPPED, "csi-a", "csi-b", "csi-c")
        self.assertEqual(self.stops(), ["csi-c", "csi-b"])

    def test_diamond(self):
        self.add("csi-a", state="running")
        self.add("csi-b", state="running", depends="csi-a", stop_delay=200)
        self.add("csi-c", state="running", depends="csi-a")
        self.add("csi-d", state="running", depends="csi-b,csi-c", stop_delay=200)
        self.call("StopService", "csi-a", "force")
        self.assert_state(STOPPED, "csi-a", "csi-b", "csi-c", "csi-d")
        stops = self.stops()
        self.assertEqual(stops[0], "csi-d")
        self.assertEqual(sorted(stops[1:]), ["csi-b", "csi-c"])

    def test_paused_dependent(self):
        self.chain(state="paused")
        self.call("StopService", "csi-a", "force")
        self.assert_state(STOPPED, "csi-a", "csi-b", "csi-c")

    def test_stopped_dependents(self):
        self.add("csi-a", state="running")
        self.add("csi-b", depends="csi-a")
        self.call("StopService", "csi-a")
        self.assert_state(STOPPED, "csi-a")

    def test_dependent_refuses(self):
        self.add("csi-a", state="running")
        self.add("csi-b", "refuse-stop", state="running", depends="csi-a")
        self.refused("failed to stop service csi-a. error: error stopping service name csi-b. current state: Running",
                     rpc="StopService", arguments=["csi-a", "force"])
        self.assert_state(RUNNING, "csi-a", "csi-b")

    def test_nothing_is_stopped_when_one_refuses(self):
        """Far away, or the one that is to be stopped."""
        self.chain()
        self.add("csi-deaf", "refuse-stop", state="running", depends="csi-a")
        self.add("csi-d", state="running", depends="csi-deaf")
        for name in ("csi-a", "csi-deaf"):
            self.refused(f"failed to stop service {name}. error: error stopping service name csi-deaf. current "
                         "state: Running", "does not let itself be stopped", rpc="StopService",
                         arguments=[name, "force"], number=INVALID_SERVICE_CONTROL)
            self.assert_state(RUNNING, "csi-a", "csi-b", "csi-c", "csi-d", "csi-deaf")

    def test_protected_dependent(self):
        self.chain()
        self.add("csi-protected", state="running", depends="csi-c")
        self.refused("failed to stop service csi-a. error: service csi-protected depends on it",
                     rpc="StopService", arguments=["csi-a", "force"], precise="FAILED_PRECONDITION")
        self.assert_state(RUNNING, "csi-a", "csi-b", "csi-c", "csi-protected")


class _Pipes:
    """Where the pipes of a csi-proxy are that somebody else has started."""

    def __init__(self, prefix):
        self.endpoint_format = prefix + "%s-%s"


class Itself(SystemTest):
    """csi-proxy as a service, under a name that is on no list: it is known by its process."""

    def setUp(self):
        super().setUp()
        self.service = harness.unique("not-on-the-list")
        prefix = testbed.PIPES + harness.unique("csi-itself") + "-"
        command = " ".join([testbed.windows_path(self.executable()), "-windows-service", "-pipe-prefix=" + prefix,
                            "-protected-services="])
        self.sc("create", self.service, "binPath=", command)
        self.addCleanup(harness.run, "sc", "delete", self.service)
        self.addCleanup(self.stop_service)
        self.sc("start", self.service)
        self.itself = self.bed.calls(_Pipes(prefix))
        self.addCleanup(self.itself.kill)
        self.wait_until_it_runs()

    def sc(self, *arguments):
        done = harness.run("sc", *arguments)
        self.assertEqual(done.code, 0, done)

    def wait_until_it_runs(self):
        end = time.monotonic() + harness.WAIT_S
        while self.get(self.service)[1] != RUNNING:
            self.assertLess(time.monotonic(), end, "the service does not start")
            time.sleep(0.05)

    def stop_service(self):
        """By the other csi-proxy, which waits until it has stopped."""
        self.call("StopService", self.service)

    def test_it_does_not_stop_itself(self):
        for arguments in ((), ("force",)):
            with self.assertRaises(CallFailed) as caught:
                self.call("StopService", self.service, *arguments, client=self.itself)
            self.assertIn(f"failed to stop service {self.service}. error: service {self.service} is csi-proxy "
                          "itself", caught.exception.text)
            self.assertEqual(caught.exception.precise, "FAILED_PRECONDITION")
        self.assertEqual(self.get(self.service)[1], RUNNING)
        words = self.call("GetService", self.service, client=self.itself)[0]
        self.assertEqual(int(words["state"]), RUNNING)
        self.call("StartService", self.service, client=self.itself)


if __name__ == "__main__":
    cases.main(sys.modules[__name__], lambda parser: parser.add_argument(
        "--exe", help="the executable, for what does not need dependents (the shipped one)"))
