#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""csi-proxyctl.exe before csi-proxy.exe: calls, lists, errors, exit codes. CSI_PROXYCTL names the program;
the rest as in ../wine/harness.py: CSI_PROXY_EXE TESTTOOL_EXE [TEST ...]."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "wine"))
import harness  # noqa: E402

PROGRAM = str(pathlib.Path(os.environ["CSI_PROXYCTL"]).resolve())


def ctl(*arguments, text=None):
    """Runs csi-proxyctl with text on its standard input."""
    done = subprocess.run([harness.WINE, PROGRAM, *arguments], input=(text or "").encode("utf-8"),
                          capture_output=True, timeout=harness.WAIT_S, check=False)
    return harness.Finished(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


class Engine(harness.WineTest):
    def ctl(self, *arguments, text=None):
        return ctl(f"-pipe-prefix={self.prefix}", *arguments, text=text)

    def test_a_service_is_called_and_seen(self):
        daemon = self.daemon("-admin-pipe=false")
        found = json.loads(self.ctl("list", "-o", "json").out)
        self.assertEqual({entry["present"] for entry in found if entry["group"] != "admin"}, {True})
        self.assertEqual([entry["present"] for entry in found if entry["group"] == "admin"], [False])
        self.assertEqual(sum(entry["rpcs"] for entry in found if entry["group"] != "admin"), 139)

        done = self.ctl("call", "system", "v1alpha1", "GetService", "-", text='{"name": "RpcSs"}')
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(json.loads(done.out)["display_name"] != "", True, done)

        missing = self.ctl("call", "admin", "v1", "GetVersion")
        self.assertEqual(missing.code, 3)
        self.assertIn("without its admin pipe", missing.err)
        daemon.interrupt()
        self.assertEqual(daemon.wait(), 0)
        gone = self.ctl("call", "disk", "v1", "ListDiskIDs")
        self.assertEqual(gone.code, 3)
        self.assertIn("  Windows: Win32 error 2 in CreateFileW", gone.err)
        self.assertIn("the service does not run", gone.err)

    def test_errors_of_the_service_are_told(self):
        self.daemon()
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            file.write('\ufeff{"path": "C:\\\\w\u00e4"}'.encode("utf-8"))
            file.flush()
            done = self.ctl("call", "filesystem", "v1", "PathExists", "@" + harness.windows_path(file.name))
        self.assertEqual((done.code, done.out), (1, ""))
        lines = done.err.splitlines()
        self.assertTrue(lines[0].startswith("error: path: C:\\w\u00e4 is not within"), done)
        self.assertEqual(lines[1], "  code: PERMISSION_DENIED (UNKNOWN on the wire)")

    def test_wrong_usage_is_two(self):
        for arguments, text in ((("call", "disk", "v1", "ListDiskIDs", "{"), "line 1, column 2"),
                                (("call", "disk", "v1", "GetDiskStats", '{"disk_nr": 1}'),
                                 "did you mean disk_number?"),
                                (("call", "disk", "v1", "@x"), "has no RPC @x"),
                                (("lits",), "did you mean list?"),
                                (("list", "-o", "xml"), "must be table, json or yaml")):
            done = self.ctl(*arguments)
            self.assertEqual(done.code, 2, done)
            self.assertIn(text, done.err)
        self.assertEqual(ctl("version").code, 0)


if __name__ == "__main__":
    harness.main(sys.modules[__name__])
