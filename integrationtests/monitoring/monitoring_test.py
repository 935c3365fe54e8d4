#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules, the dashboard and the metrics endpoint, with Prometheus itself and its promtool.

    monitoring_test.py BUILD_DIR     (a native build)

The native daemon is scraped while the C client's tests call it; then every query of the dashboard and every
rule is put to that Prometheus.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import assets
import prometheus

HERE = pathlib.Path(__file__).resolve().parent
PROFILE = HERE.parent / "testbed" / "profiles" / "azure-scsi.profile"
WORKING_DIRECTORY = "C:\\var\\lib\\kubelet"
LIMIT_S = 120
# Nothing native has them: they come from calls into Windows and from its event log.
OF_WINDOWS = ("csi_proxy_windows_call", "csi_proxy_events_lost_total")

build = None


def promtool(*arguments, **options):
    result = subprocess.run(["promtool", *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, cwd=assets.DIRECTORY, timeout=LIMIT_S, text=True,
                            check=False, **options)
    return result.returncode, result.stdout


class Files(unittest.TestCase):
    def test_the_rules_do_what_they_are_for(self):
        for arguments in (("check", "rules", assets.RULES), ("test", "rules", assets.RULES_TEST)):
            code, output = promtool(*arguments)
            self.assertEqual(code, 0, output)

    def test_every_alert_has_a_test(self):
        alerts = re.findall(r"- alert: (\w+)", assets.RULES.read_text())
        tested = re.findall(r"alertname: (\w+)", assets.RULES_TEST.read_text())
        self.assertGreater(len(alerts), 10)
        self.assertEqual(set(alerts), set(tested))

    def test_every_metric_is_one_of_the_program(self):
        table = (build / "gen" / "docs" / "METRICS.md").read_text()
        known = set(re.findall(r"^\| `([a-z_0-9]+)` ", table, re.MULTILINE))
        for file in (assets.RULES, assets.RULES_TEST, assets.DASHBOARD):
            named = assets.metrics_in(file.read_text())
            self.assertGreater(len(named), 5, file.name)
            self.assertEqual(named - known, set(), f"{file.name}: the program has no such metrics")

    def test_the_panels_have_their_place(self):
        board = assets.dashboard()
        taken = {}
        for panel in board["panels"]:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24, panel["title"])
            columns, rows = range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])
            for cell in [(x, y) for x in columns for y in rows]:
                self.assertNotIn(cell, taken, f"{panel['title']} lies on {taken.get(cell)}")
                taken[cell] = panel["title"]
        self.assertEqual(len({panel["id"] for panel in board["panels"]}), len(board["panels"]))

    def test_the_variables_are_used_and_declared(self):
        board = assets.dashboard()
        declared = {"$" + variable["name"] for variable in board["templating"]["list"]}
        used = set(re.findall(r"\$\{?(\w+)", assets.DASHBOARD.read_text()))
        grafanas_own = {"$__rate_interval", "$__range", "$__all"}
        self.assertEqual({"$" + name for name in used} - grafanas_own, declared)
        for panel in assets.panels(board):
            for part in [panel, *panel["targets"]]:
                self.assertEqual(part["datasource"]["uid"], "${datasource}", panel["title"])
            self.assertIn("unit", panel["fieldConfig"]["defaults"], panel["title"])


class Service:
    """csi-proxy-native with metrics on a port of its own."""

    def __init__(self, directory):
        self.prefix = f"{directory}/csi-proxy-"
        self.log = pathlib.Path(directory) / "service.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [build / "integrationtests/native/csi-proxy-native", f"-pipe-prefix={self.prefix}",
                 f"-kubelet-path={WORKING_DIRECTORY}", "-metrics-bind-address=127.0.0.1:0"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=dict(os.environ, CSI_PROXY_NATIVE_PROFILE=str(PROFILE)))
        try:
            prometheus.wait_for("the service does not serve",
                                lambda: "API versions" in self.log.read_text(), LIMIT_S)
            self.metrics = prometheus.served_metrics(self.log.read_text())
        except AssertionError as error:
            self.stop()
            raise AssertionError(f"{error}\n{self.log.read_text()}") from error

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_S)

    def load(self):
        """Files and shares, good and bad input; the other groups take longer and show nothing more here."""
        clients = build / "integrationtests/clienttests"
        formats = ["--endpoint-format", f"{self.prefix}%s-%s"]
        for command in ([clients / "csi-proxy-filesystem-tests", *formats],
                        [clients / "csi-proxy-storage-tests", *formats, "--control", f"{self.prefix}control",
                         "--groups", "smb"]):
            result = subprocess.run([*command, WORKING_DIRECTORY], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, timeout=LIMIT_S, text=True, check=False)
            if result.returncode != 0:
                raise AssertionError(f"{command[0]}: {result.stdout[-2000:]}")


class Scraped(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.service = Service(directory.name)
        cls.addClassCleanup(cls.service.stop)
        cls.prometheus = prometheus.Prometheus(directory.name, cls.service.metrics, assets.RULES)
        cls.prometheus.__enter__()
        cls.addClassCleanup(cls.prometheus.__exit__)
        prometheus.wait_for("the service is not scraped", cls.up, LIMIT_S)
        cls.service.load()
        with urllib.request.urlopen(f"http://{cls.service.metrics}/metrics", timeout=LIMIT_S) as answer:
            cls.exposition = answer.read().decode()
        prometheus.wait_for("the last calls are not scraped", cls.all_is_scraped, LIMIT_S)

    @classmethod
    def up(cls):
        return [target["health"] for target in cls.prometheus.targets()] == ["up"]

    @classmethod
    def all_is_scraped(cls):
        """Twice after the load: rates need two samples."""
        served = sum(int(value) for value in
                     re.findall(r"^grpc_server_started_total\{.*\} (\d+)$", cls.exposition, re.MULTILINE))
        for again in ("", " offset 1s"):
            have = cls.prometheus.query(f"sum(grpc_server_started_total{again})")
            if not have or float(have[0]["value"][1]) < served:
                return False
        return served > 0

    def test_promtool_accepts_what_is_served(self):
        code, output = promtool("check", "metrics", input=self.exposition)
        self.assertEqual((code, output), (0, ""))
        code, output = promtool("check", "config", self.prometheus.configuration)
        self.assertEqual(code, 0, output)

    def test_every_query_of_the_dashboard_has_data(self):
        served = set(re.findall(r"^# TYPE (\S+)", self.exposition, re.MULTILINE))
        empty = []
        asked = assets.queries(assets.dashboard())
        self.assertGreater(len(asked), 25)
        for title, expression in asked:
            names = assets.metrics_in(expression)
            for name in names:
                if not name.startswith(OF_WINDOWS):
                    self.assertIn(name, served, title)
            # Where only what is more than nothing is shown, there is nothing on a good day.
            if names <= served and not self.prometheus.query(expression.replace(" > 0", "")):
                empty.append(f"{title}: {expression}")
        self.assertEqual(empty, [])

    def test_the_variables_of_the_dashboard_have_values(self):
        for variable in assets.dashboard()["templating"]["list"]:
            if variable["type"] == "query":
                found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
                selector = {"match[]": assets.filled_in(found[1])}
                values = self.prometheus.ask(f"label/{found[2]}/values", **selector)
                self.assertTrue(values, variable["name"])

    def test_one_group_alone(self):
        for panel in assets.panels(assets.dashboard()):
            if panel["title"] == "Calls by method":
                chosen = assets.filled_in(panel["targets"][0]["expr"], {"$group": "smb"})
                methods = {series["metric"]["grpc_method"] for series in self.prometheus.query(chosen)}
                self.assertIn("NewSmbGlobalMapping", methods)
                self.assertNotIn("Mkdir", methods)

    def test_all_rules_are_evaluated(self):
        def evaluated():
            return all(rule["health"] == "ok" for rule in self.prometheus.rules())
        prometheus.wait_for("not all rules are evaluated", evaluated, LIMIT_S)
        for rule in self.prometheus.rules():
            self.assertEqual(rule.get("lastError", ""), "", rule["name"])
        for record in ("instance_method:csi_proxy_calls:rate5m",
                       "instance_lane:csi_proxy_call_queue_seconds:p99_rate1h",
                       "instance_method:csi_proxy_call_duration_seconds:p99_rate1h"):
            self.assertTrue(self.prometheus.query(record), record)

    def test_zz_a_service_that_ends_is_noticed(self):
        self.assertEqual(self.service.stop(), 0)

        def pending():
            down = [rule for rule in self.prometheus.rules() if rule["name"] == "CsiProxyDown"]
            return [rule["state"] for rule in down] == ["pending"]
        prometheus.wait_for("CsiProxyDown is not pending", pending, LIMIT_S)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
