# SPDX-License-Identifier: Apache-2.0
"""A program on a pseudo terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

LIMIT_S = 60


class Terminal:
    """A program on a pseudo terminal."""

    def __init__(self, command, columns=80, rows=24, **environment):
        values = {**os.environ, "TERM": "xterm-256color", **environment}
        values = {key: value for key, value in values.items() if value is not None}
        self.master, slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.master)
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=values,
                                        preexec_fn=self.become_leader)
        self.slave = slave  # kept open, so that the settings can be looked at after the end
        self.text = ""

    @staticmethod
    def become_leader():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wanted=None):
        """Until the text has `wanted` (a pattern), or the program has ended."""
        end = time.monotonic() + LIMIT_S
        while True:
            ended = self.process.poll() is not None
            while select.select([self.master], [], [], 0.02)[0]:
                self.text += os.read(self.master, 1 << 16).decode("utf-8", "replace")
            if wanted is not None and re.search(wanted, self.text):
                return self.text
            if ended and wanted is None:
                return self.text
            if ended or time.monotonic() > end:
                raise AssertionError(f"no {wanted!r} in {self.text!r}")

    def send(self, text):
        os.write(self.master, text.encode())

    def settings(self):
        return termios.tcgetattr(self.slave)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.slave)
        os.close(self.master)
