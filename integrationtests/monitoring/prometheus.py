# SPDX-License-Identifier: Apache-2.0
"""A Prometheus of Debian's, on the loopback interface, for as long as a test runs."""

import json
import pathlib
import re
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIGURATION = """\
global:
  scrape_interval: {interval}
  scrape_timeout: {interval}
  evaluation_interval: {interval}
rule_files: ['{rules}']
scrape_configs:
  - job_name: csi-proxy
    static_configs:
      - targets: ['{target}']
        labels: {{instance: node-1}}
"""
START_S = 30
STOP_S = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, limit_s):
    """Asks again and again, and gives back the first answer that is true."""
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        answer = condition()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"after {limit_s} s: {what}")


class Prometheus:
    """with Prometheus(directory, "127.0.0.1:1234", rules) as p: p.query("up")"""

    def __init__(self, directory, target, rules, interval="500ms"):
        self.directory = pathlib.Path(directory)
        self.address = f"127.0.0.1:{free_port()}"
        self.configuration = self.directory / "prometheus.yml"
        self.configuration.write_text(CONFIGURATION.format(interval=interval, rules=rules, target=target))

    def __enter__(self):
        with open(self.directory / "prometheus.log", "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.configuration}", f"--web.listen-address={self.address}",
                 f"--storage.tsdb.path={self.directory / 'data'}", "--log.level=warn"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for("Prometheus is not ready", self._is_ready, START_S)
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(STOP_S)

    def _is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError("Prometheus ended: " + (self.directory / "prometheus.log").read_text())
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=1) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def ask(self, path, **parameters):
        """The data of one answer of the HTTP API; an error of Prometheus is a ValueError with its text."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(json.load(error)["error"]) from error

    def query(self, expression):
        return self.ask("query", query=expression)["result"]

    def query_range(self, expression, start, end, step):
        return self.ask("query_range", query=expression, start=start, end=end, step=step)["result"]

    def targets(self):
        return self.ask("targets")["activeTargets"]

    def rules(self):
        return [rule for group in self.ask("rules")["groups"] for rule in group["rules"]]


def served_metrics(log_text):
    """Where a service says in its log that its metrics are: "127.0.0.1:45025"; None when it does not yet."""
    found = re.search(r"http://([^/\s]+)/metrics", log_text)
    return found and found.group(1)
