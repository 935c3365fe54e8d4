#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""stop_test.py CSI-PROXY-NATIVE: SIGTERM while metrics are read and health is watched, and a start at the
same address again. Debian's own Python: it has the package python3-grpcio."""

import http.client
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

NATIVE = sys.argv.pop(1)
LIMIT_S = 60
ROUNDS = 3
SCRAPERS = 4
WATCHERS = 4
SERVING, NOT_SERVING = b"\x08\x01", b"\x08\x02"


class Scraper(threading.Thread):
    """Reads the metrics until nobody answers."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.address = address
        self.complete = 0
        self.wrong = []

    def run(self):
        while True:
            connection = http.client.HTTPConnection(self.address, timeout=LIMIT_S)
            try:
                connection.request("GET", "/metrics")
                answer = connection.getresponse()
                text = answer.read().decode()
            except (OSError, http.client.HTTPException):
                return
            finally:
                connection.close()
            if answer.status != 200 or not text.endswith("\n") or "csi_proxy_build_info" not in text:
                self.wrong.append((answer.status, text[-200:]))
            self.complete += 1


class Watcher(threading.Thread):
    """Watches the health of the whole service until the stream ends."""

    def __init__(self, socket):
        super().__init__(daemon=True)
        self.socket = socket
        self.seen = []
        self.code = None

    def run(self):
        with grpc.insecure_channel("unix:" + self.socket) as channel:
            watch = channel.unary_stream("/grpc.health.v1.Health/Watch", lambda request: request,
                                         lambda answer: answer)
            try:
                for answer in watch(b"", timeout=LIMIT_S):
                    self.seen.append(answer)
            except grpc.RpcError as error:
                self.code = error.code()


class Stop(unittest.TestCase):
    def wait_for(self, what, condition):
        end = time.monotonic() + LIMIT_S
        while not condition():
            self.assertIsNone(self.service.poll(), what + self.log.read_text())
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def start(self, address):
        self.log = pathlib.Path(self.directory) / "log"
        with open(self.log, "wb") as log:
            self.service = subprocess.Popen(
                [NATIVE, "-pipe-prefix=" + self.prefix, "-metrics-bind-address=" + address],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory)
        self.addCleanup(self.service.kill)
        self.wait_for("the service does not serve", lambda: "] Serving " in self.log.read_text())
        return re.search(r"http://([^/ ]+)/metrics", self.log.read_text())[1]

    def check_stop(self, scrapers, watchers):
        self.wait_for("nothing is read", lambda: all(scraper.complete for scraper in scrapers))
        self.wait_for("nothing is seen", lambda: all(watcher.seen for watcher in watchers))
        self.service.send_signal(signal.SIGTERM)
        self.assertEqual(self.service.wait(LIMIT_S), 0, self.log.read_text())
        for thread in scrapers + watchers:
            thread.join(LIMIT_S)
            self.assertFalse(thread.is_alive())
        self.assertEqual([scraper.wrong for scraper in scrapers], [[]] * SCRAPERS)
        for watcher in watchers:
            self.assertEqual(watcher.code, grpc.StatusCode.UNAVAILABLE)
            self.assertLessEqual(set(watcher.seen), {SERVING, NOT_SERVING})
        log = self.log.read_text()
        self.assertIn("CSI-Proxy Server has stopped", log)
        self.assertNotIn("Sanitizer", log)

    def test_scrapes_and_watches_across_a_stop(self):
        with tempfile.TemporaryDirectory(prefix="csi-stop-") as self.directory:
            self.prefix = os.path.join(self.directory, "csi-proxy-")
            address = "127.0.0.1:0"
            for _ in range(ROUNDS):
                address = self.start(address)
                threads = ([Scraper(address) for _ in range(SCRAPERS)],
                           [Watcher(self.prefix + "admin-v1") for _ in range(WATCHERS)])
                for thread in threads[0] + threads[1]:
                    thread.start()
                self.check_stop(*threads)


if __name__ == "__main__":
    unittest.main(verbosity=2)
