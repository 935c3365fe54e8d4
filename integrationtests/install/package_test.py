#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What scripts/package.sh makes: contents, checksums, SBOM, the same bytes twice; the MSI from installation
over upgrade to removal, as far as Wine's Windows Installer carries it.

usage: package_test.py CSI_PROXY_EXE TESTTOOL_EXE SERVICETOOL_EXE BUILD_DIR [CLASS.test ...]
"""

import atexit
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "wine"))
import harness  # noqa: E402
from harness import REPOSITORY, Settings, WineTest, run, testtool, windows_path  # noqa: E402

PIPE = "\\\\.\\pipe\\csi-proxy-filesystem-v1"
PROGRAM_FILES = "C:\\Program Files\\csi-proxy"
SERVICETOOL = ""
BUILD = pathlib.Path()


def package(out, *arguments, build=None):
    command = [REPOSITORY / "scripts" / "package.sh", "--build", build or BUILD, "--out", out, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=harness.TEST_S,
                          env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
    if done.returncode != 0:
        raise AssertionError(f"package.sh: {done.stdout}\n{done.stderr}")
    return {path.suffix: path for path in out.iterdir()}


@functools.cache
def first_package():
    """Made once for all tests."""
    directory = pathlib.Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, directory)
    return package(directory)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Packages(WineTest):
    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.made = first_package()
        with zipfile.ZipFile(cls.made[".zip"]) as archive:
            cls.contents = {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}

    def test_the_same_programs_give_the_same_bytes(self):
        again = package(self.directory / "second")
        for suffix in [".zip", ".msi", ".json"]:
            self.assertEqual(sha256(self.made[suffix]), sha256(again[suffix]), suffix)

    def test_checksums_are_those_of_the_files(self):
        lines = (self.made[".zip"].with_name("SHA256SUMS")).read_text().splitlines()
        listed = dict(reversed(line.split("  ")) for line in lines)
        self.assertEqual(set(listed), {self.made[suffix].name for suffix in [".zip", ".msi", ".json"]})
        for name, digest in listed.items():
            self.assertEqual(sha256(self.made[".zip"].with_name(name)), digest, name)

    def test_the_zip_has_programs_licences_and_documents(self):
        for name in ["csi-proxy.exe", "csi-proxyctl.exe", "LICENSE", "LICENSES.txt", "THIRD-PARTY.md",
                     "sbom.spdx.json", "docs/USER-GUIDE.md", "docs/dashboard.png"]:
            self.assertIn(name, self.contents)
        self.assertEqual(self.contents["csi-proxy.exe"], pathlib.Path(Settings.exe).read_bytes())
        self.assertFalse([name for name in self.contents if name.startswith("/") or ".." in name])
        licences = self.contents["LICENSES.txt"].decode()
        for text in ["GNU LESSER GENERAL PUBLIC LICENSE", "GCC RUNTIME LIBRARY EXCEPTION", "Apache License",
                     "Jean-loup Gailly"]:
            self.assertIn(text.lower(), licences.lower())
        document = json.loads(self.contents["sbom.spdx.json"])
        titles = [line for line, rule in zip(licences.split("\n")[1:], licences.split("\n"))
                  if rule == "=" * 78 and line]
        for entry in document["packages"]:
            name = entry["name"]
            self.assertTrue(name == "csi-proxy" or any(name in title for title in titles), name)
        self.assertIn("Copyright (c) 2019 Yibo Cai", licences, "utf8_range")
        self.assertIn("WIDE Project", licences, "address_sorting")
        self.assertIn("scripts/deps.sh", self.contents["THIRD-PARTY.md"].decode(), "how to link anew")

    def test_the_sbom_follows_the_rules_of_spdx(self):
        document = json.loads(self.contents["sbom.spdx.json"])
        self.assertEqual(self.made[".json"].read_bytes(), self.contents["sbom.spdx.json"])
        self.assertEqual((document["spdxVersion"], document["dataLicense"], document["SPDXID"]),
                         ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(document["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(document["documentNamespace"], r"^[a-z]+:[^#]+$")
        elements = document["packages"] + document["files"]
        ids = [element["SPDXID"] for element in elements] + ["SPDXRef-DOCUMENT"]
        self.assertEqual(len(ids), len(set(ids)))
        for identifier in ids:
            self.assertRegex(identifier, r"^SPDXRef-[A-Za-z0-9.-]+$")
        for relation in document["relationships"]:
            self.assertIn(relation["spdxElementId"], ids)
            self.assertIn(relation["relatedSpdxElement"], ids)
        own = {licence["licenseId"] for licence in document["hasExtractedLicensingInfos"]}
        for entry in document["packages"]:
            self.assertTrue(entry["versionInfo"] and entry["downloadLocation"], entry)
            if entry["licenseDeclared"].startswith("LicenseRef-"):
                self.assertIn(entry["licenseDeclared"], own)
            for reference in entry.get("externalRefs", []):
                self.assertRegex(reference["referenceLocator"],
                                 r"^pkg:deb/debian/[a-z0-9.-]+@[\w.~%-]+\?arch=source$")
        for entry in document["files"]:
            content = self.contents[entry["fileName"].removeprefix("./")]
            sums = {c["algorithm"]: c["checksumValue"] for c in entry["checksums"]}
            self.assertEqual(sums["SHA256"], hashlib.sha256(content).hexdigest())

    def test_versions_are_those_that_are_built(self):
        document = json.loads(self.contents["sbom.spdx.json"])
        versions = {entry["versionInfo"] for entry in document["packages"]}
        script = (REPOSITORY / "scripts" / "deps.sh").read_text()
        built = dict(re.findall(r"^([A-Z_]+)_VERSION=(\S+)$", script, re.MULTILINE))
        del built["CMOCKA"]  # only in tests
        for name, version in built.items():
            self.assertIn(version, versions, name)


class Msi(WineTest):
    """UNVERIFIED ON WINDOWS: rollback, repair, the accounts of custom actions, and that the removal of an
    older product is told UPGRADINGPRODUCTCODE, as is documented. Wine does not tell it, so the test does."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.first = first_package()[".msi"]
        cls.second = package(cls.directory / "second", "--version", "99.0.0", build=cls.newer_build())[".msi"]

    def setUp(self):
        super().setUp()
        self.addCleanup(run, Settings.exe, "uninstall", "-delete-program")

    @classmethod
    def newer_build(cls):
        build = cls.directory / "build"
        for name in ["CMakeCache.txt", "src/service/csi-proxy.exe", "client/ctl/csi-proxyctl.exe"]:
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / name, build / name)
        with open(build / "src/service/csi-proxy.exe", "ab") as file:
            file.write(b"newer")
        return build

    def msiexec(self, option, path, *properties):
        done = run("msiexec", option, windows_path(path), "/qn", *properties, timeout_s=harness.TEST_S)
        self.assertEqual(done.code, 0, done)

    @staticmethod
    def config():
        done = run(SERVICETOOL, "csiproxy")
        return None if done.out == "absent\n" else dict(line.split(": ", 1) for line in done.out.splitlines())

    def installed(self, name):
        """The bytes of an installed file, or None."""
        prefix = pathlib.Path(run_prefix())
        path = prefix / "drive_c" / "Program Files" / "csi-proxy" / name
        return path.read_bytes() if path.exists() else None

    def test_install_upgrade_remove(self):
        self.assertIsNone(self.config(), "something else has left its service here")
        old = pathlib.Path(Settings.exe).read_bytes()

        self.msiexec("/i", self.first, "FLAGS=-working-dir=C:\\var -v=1")
        config = self.config()
        self.assertIn(f'"{PROGRAM_FILES}\\csi-proxy.exe" -windows-service ', config["command line"])
        self.assertIn("-v=1", config["command line"])
        self.assertEqual(testtool("probe", PIPE), "open")
        self.assertEqual(self.installed("csi-proxy.exe"), old)
        self.assertIsNotNone(self.installed("LICENSES.txt"))

        # What any user may start.
        self.msiexec("/i", self.first, "REINSTALL=ALL", "REINSTALLMODE=amus", "FLAGS=-v=9")
        self.assertEqual(self.config(), config, "a repair sets no flags")

        # The two halves of a major upgrade.
        process = config["process"]
        self.msiexec("/x", self.first, "UPGRADINGPRODUCTCODE={7d1c7a52-4c0c-4f0e-9c57-1b0f6d1f2a61}")
        self.assertIsNone(self.installed("package/csi-proxy.exe"))
        self.assertEqual(self.config()["process"], process, "the service goes on meanwhile")
        call = self.helper("half-call", PIPE, ready="begun")
        upgrade = self.start("msiexec", "/i", windows_path(self.second), "/qn")
        upgrade.wait_for_line("waiting for calls under way to end")
        call.send_line()
        call.wait_for_line("answered")
        self.assertEqual(call.lines[-1], "answered")
        self.assertEqual(upgrade.wait(harness.TEST_S), 0, upgrade.text())
        self.assertEqual(self.installed("csi-proxy.exe"), old + b"newer")
        self.assertEqual(self.installed("csi-proxy.exe.old"), old)
        self.assertEqual(self.installed("package/csi-proxy.exe"), old + b"newer")
        self.assertEqual(self.config()["command line"], config["command line"], "the flags are kept")
        self.assertEqual(testtool("probe", PIPE), "open")

        self.msiexec("/x", self.second)
        self.assertIsNone(self.config())
        self.assertEqual(testtool("probe", PIPE), "absent")
        for name in ["csi-proxy.exe", "csi-proxy.exe.old", "package/csi-proxy.exe", "LICENSE"]:
            self.assertIsNone(self.installed(name), name)

    def test_a_newer_product_replaces_an_older_one_and_not_the_other_way_round(self):
        self.msiexec("/i", self.first)
        self.msiexec("/i", self.second)
        newer = self.installed("csi-proxy.exe")
        self.assertEqual(newer, pathlib.Path(Settings.exe).read_bytes() + b"newer")
        self.assertEqual(testtool("probe", PIPE), "open")
        refused = run("msiexec", "/i", windows_path(self.first), "/qn", timeout_s=harness.TEST_S)
        self.assertNotEqual(refused.code, 0)
        self.assertEqual(self.installed("csi-proxy.exe"), newer)
        self.msiexec("/x", self.second)
        self.assertIsNone(self.config())


def run_prefix():
    done = subprocess.run([harness.WINE, "--prefix"], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def main():
    global SERVICETOOL, BUILD
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    SERVICETOOL, BUILD = str(pathlib.Path(sys.argv[3]).resolve()), pathlib.Path(sys.argv[4]).resolve()
    del sys.argv[3:5]
    harness.main(sys.modules[__name__])


if __name__ == "__main__":
    main()
