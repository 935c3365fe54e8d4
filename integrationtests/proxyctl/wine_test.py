#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wine_test.py [--build DIR] [CLASS.test ...]: every verb of csi-proxyctl.exe before csi-proxy on the
testbed's disks, shares and targets. One service for all tests."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "testbed"))

import cases  # noqa: E402  (the testbed's)
import testbed  # noqa: E402
import verbs  # noqa: E402
from verbs import NOT_READY, UNREACHABLE, USAGE  # noqa: E402

CTL_S = 60
PROFILE = "azure-nvme"
FOLDER = ("var", "lib", "kubelet", "csi-proxyctl")
ROOT, USER, PASSWORD = "\\\\files\\share", "user", "p:w\\ 7Qz=%"


class WineVerbs(verbs.Verbs, unittest.TestCase):
    maxDiff = None
    data_disk = 3
    mount_point = "C:\\" + "\\".join(FOLDER) + "\\mounted"

    @classmethod
    def setUpClass(cls):
        cls.bed = cases.BED
        cls.bed.reset()
        cls.bed.apply(PROFILE)
        cls.folder = cls.bed.prefix.joinpath("drive_c", *FOLDER)
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.folder.mkdir(parents=True)
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        profile = testbed.HERE / "profiles" / f"{PROFILE}.profile"
        cls.disks = verbs.parse_profile(profile.read_text(encoding="ascii"))
        cls.daemon = cls.bed.daemon(cls.bed.build.with_links)
        cls.addClassCleanup(cls.daemon.stop)

    def command_line(self, *arguments):
        exe = self.bed.build.directory / "client" / "ctl" / "csi-proxyctl.exe"
        return [testbed.harness.WINE, str(exe), f"-pipe-prefix={self.daemon.prefix}", *arguments]

    def run_ctl(self, *arguments, text=""):
        done = subprocess.run(self.command_line(*arguments), input=text.encode(), capture_output=True,
                              timeout=CTL_S, check=False, env=dict(os.environ, **self.bed.environment))
        out, err = (part.decode("utf-8").replace("\r\n", "\n") for part in (done.stdout, done.stderr))
        return verbs.Finished(done.returncode, out, err)

    def map_share(self):
        self.bed.add_share(ROOT, user=USER, password=PASSWORD)
        self.call("smb", "NewSmbGlobalMapping", remote_path=ROOT, username=USER, password=PASSWORD)
        self.addCleanup(self.call, "smb", "RemoveSmbGlobalMapping", remote_path=ROOT)
        return ROOT

    def connect_target(self):
        name, address, port = "iqn.2004-10.com.example:ctl", "192.0.2.10", 3260
        file = testbed.escape(testbed.windows_path(self.bed.image(40)))
        self.bed.command(f"target add iqn={name} portal={address}:{port}")
        self.bed.command(f"target lun iqn={name} number=40 size=64M file={file}")
        self.addCleanup(self.bed.command, f"target remove iqn={name}")
        portal = {"target_address": address, "target_port": port}
        self.call("iscsi", "AddTargetPortal", target_portal=portal)
        self.call("iscsi", "DiscoverTargetPortal", target_portal=portal)
        self.call("iscsi", "ConnectTarget", target_portal=portal, iqn=name, auth_type="NONE")
        self.addCleanup(self.call, "iscsi", "DisconnectTarget", target_portal=portal, iqn=name)
        return name, address, port

    def check_mounts(self, volume):
        """Wine's mount manager tells of drive letters only, not of folders."""
        guid = volume["volume_id"].removeprefix("\\\\?\\Volume").rstrip("\\")
        self.bed.command(f"volume letter guid={guid} letter=X")
        volumes = self.json("volumes")["volumes"]
        volume, = [found for found in volumes if found["disk_number"] == self.data_disk]
        self.assertEqual(volume["mount_points"], ["X:\\"])
        super().check_mounts(volume)

    def test_nobody_is_there(self):
        done = self.run_ctl(f"-pipe-prefix={self.daemon.prefix}none-", "status")
        self.assertEqual(done.code, UNREACHABLE, done)
        self.assertEqual(done.out, "")

    def test_exit_codes_arrive(self):
        self.assertEqual(self.run_ctl("no-such-verb").code, USAGE)
        self.assertIn(self.run_ctl("status").code, (0, NOT_READY))


if __name__ == "__main__":
    cases.main(sys.modules[__name__])
