#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace_test.py [--build DIR] [CLASS.test ...]: what csi-proxy.exe starts and loads while it answers the
C client's cases, as Wine's own trace shows it: no process but the one that formats, and no COM unless
-smb-route=mi asks for it."""

import os
import re
import sys

import cases
import testbed

HELPER = "format-volume-helper"
COM = {"ole32.dll", "oleaut32.dll", "combase.dll", "wbemprox.dll", "wbemdisp.dll", "mi.dll", "fastprox.dll"}
SHELLS = re.compile(r"powershell|pwsh|cmd\.exe|wmic|diskpart|net\.exe|iscsicli", re.IGNORECASE)
PROGRAM = re.compile(r"csi-proxy(-testbed)?\.exe")
SHARE = "%5C%5Cfileserver%5Cshare"

SCENE = [
    r"share add root=\\fileserver\share user=DOMAIN\worker password=secret",
]
CALLS = [  # those that the second route is for
    f"NewSmbGlobalMapping {SHARE} DOMAIN%5Cworker secret", f"RemoveSmbGlobalMapping {SHARE}",
]
# The C client's cases, good and bad: every RPC; and mounting, where there are links.
MOUNTING = ("storage", "--groups", "disk,volume", "--versions", "v2alpha1")
WHOLE = [("storage", "--groups", "disk,volume", "--versions", "v1,v2alpha1"),
         ("storage", "--groups", "smb", "--versions", "v1"),
         ("storage", "--groups", "iscsi", "--versions", "v1alpha2"),
         ("storage", "--groups", "system"),
         ("filesystem",)]
WORKING_DIRECTORY = "C:\\var\\lib\\kubelet"
CASES_S = 300


class Trace(cases.TestbedTest):
    limit_s = 600

    def traced(self, exe, *flags):
        """A daemon that Wine traces; what it says is in its log."""
        os.environ["WINEDEBUG"] = "+pid,+process,+loaddll"
        try:
            return self.bed.daemon(exe, *flags)
        finally:
            del os.environ["WINEDEBUG"]

    def make_calls(self, daemon):
        for line in SCENE:
            self.bed.command(line)
        calls = self.bed.calls(daemon)
        for call in CALLS:
            calls.ask(call, 60)
        calls.kill()

    def make_all_calls(self, daemon, programs, *flags):
        """The cases themselves must pass, or they show nothing."""
        os.environ["CSI_TESTBED_IMAGES"] = testbed.windows_path(self.bed.images)
        folder = self.bed.build.directory / "integrationtests" / "clienttests"
        for program, *arguments in programs:
            done = self.bed.run(folder / f"csi-proxy-{program}-tests.exe", "--endpoint-format",
                                daemon.endpoint_format, *arguments, *flags, WORKING_DIRECTORY, timeout_s=CASES_S)
            self.assertEqual(done.code, 0, f"{program} {arguments}: {done.out[-2000:]}")

    def observe(self, calls, exe, *flags):
        """The command lines of the processes that were started, and the names of the DLLs of the service."""
        with self.traced(exe, *flags) as daemon:
            calls(daemon)
            daemon.stop()
            log = daemon.log()
        started, loaded = [], {}
        for line in log:
            create = re.search(r"process:CreateProcessInternalW app (?:\(null\)|L\"(.*?)\") cmdline L\"(.*)\"", line)
            if create:
                started.append(create.group(2))
            load = re.search(r"^([0-9a-f]+):[0-9a-f]+:trace:loaddll:\w+ Loaded L\"(.*?)\"", line)
            if load:
                name = load.group(2).rsplit("\\", 1)[-1].lower()
                loaded.setdefault(load.group(1), []).append(name)
        services = [names for names in loaded.values()
                    if PROGRAM.search(" ".join(names)) and "fmifs.dll" not in names]
        self.assertEqual(len(services), 1, "the trace does not show one service")
        return started, set(services[0])

    def check_started(self, started):
        """Wine starts the service itself through a loader of its own."""
        others = [line for line in started if HELPER not in line and not PROGRAM.search(line)]
        self.assertEqual(others, [])
        self.assertFalse(any(SHELLS.search(line) for line in started), started)

    def check_calls(self, exe, programs, *flags):
        """Returns the DLLs."""
        started, loaded = self.observe(lambda daemon: self.make_all_calls(daemon, programs, *flags), exe)
        self.check_started(started)
        self.assertTrue(any(HELPER in line for line in started), "volumes were formatted")
        self.assertEqual(loaded & COM, set())
        return loaded

    def test_every_call(self):
        loaded = self.check_calls(self.bed.build.shipped, WHOLE, "--no-links")
        self.assertIn("iscsidsc.dll", loaded)
        self.assertIn("mpr.dll", loaded)

    def test_mounting(self):
        self.check_calls(self.bed.build.with_links, [MOUNTING])

    def test_the_other_route_loads_what_it_needs(self):
        started, loaded = self.observe(self.make_calls, self.bed.build.shipped, "-smb-route=mi")
        self.check_started(started)
        self.assertIn("mi.dll", loaded, "the tests above can fail")


if __name__ == "__main__":
    cases.main(sys.modules[__name__])
