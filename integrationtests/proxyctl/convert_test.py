#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""convert_test.py CONVERT: holds what csi-proxyctl makes of JSON against Python's JSON parser and PyYAML,
with random data and with all that is known to be odd.

CSI_CONVERT_SEED repeats a run, CSI_CONVERT_ROUNDS makes it longer.
"""

import json
import os
import random
import subprocess
import sys
import unittest

import yaml

CONVERT = sys.argv.pop(1)
SEED = int(os.environ.get("CSI_CONVERT_SEED") or random.randrange(1 << 32))
ROUNDS = int(os.environ.get("CSI_CONVERT_ROUNDS") or 400)

ODD = ["", " ", "  a", "a ", "a: b", "a:b", ":", "a:", "a #b", "#", "-", "- a", "-a", "?", "? a", "|",
       ">", "~", "null", "NULL", "Null", "true", "FALSE", "yes", "No", "on", "OFF", "y", "N", "1", "-1",
       "+1", "1.5", "1e5", "1_000", "0x1F", "0o17", "017", "1:30", "190:20:30", ".inf", "-.INF", ".nan",
       ".", "..", "...", "---", "--- a", "=", "<<", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "'",
       "''", "\"", "it's", "say \"x\"", "[a]", "{a: b}", "a, b", "&a", "*a", "!a", "!!str a", "%TAG",
       "@a", "`a`", "\\", "\\\\?\\Volume{1-2}\\", "C:\\var\\lib", "\\\\host\\share", "\n", "\n\n", "a\n",
       "a\n\n", "\na", "a\nb", "a\n b\n", " a\nb", "a\n\nb", "a\n\n\nb\n", "a\n---\nb", "a\r\nb", "\t",
       "a\tb", "\x00", "\x1b[31mred", "\x7f", "\x80", "\x85", "\x9b", "\u2028", "\u2029", "\u202e",
       "\u200e", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\U0001f4be", "\U0010ffff", "d\xe9j\xe0",
       "\u6f22\u5b57", "e\u0301", "a" * 2000, "x " * 800, "# no comment\nat all", "a\n# b", "- a\n- b",
       "a: |\n  b"]
CHARACTERS = list("ab01 .:-#'\"\\[]{},&*!|>%@`?~=<_/+\n\t\r\x00\x1b\x7f\x85\x9b") + [
    "\u2028", "\u202e", "\ufeff", "\u0301", "\u6f22", "\U0001f4be", "\ufffe"]


def harmless(text):
    """Nothing that a terminal obeys."""
    return all(c == "\n" or not (c < " " or "\x7f" <= c <= "\x9f" or c in "\u200e\u200f\u2028\u2029\ufeff"
                                 or "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069") for c in text)


class Conversion(unittest.TestCase):
    def convert(self, form, values):
        lines = []
        for number, value in enumerate(values):
            # Escaped and as it is: both have to be read.
            lines.append(json.dumps(value, ensure_ascii=number % 2 == 0))
        done = subprocess.run([CONVERT, form], input="\n".join(lines).encode() + b"\n", capture_output=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        texts = done.stdout.decode("utf-8").split("\0")
        self.assertEqual(texts.pop(), "")
        self.assertEqual(len(texts), len(values))
        return texts

    def hold(self, values):
        for value, text in zip(values, self.convert("json", values)):
            self.assertEqual(json.loads(text), value)
            self.assertTrue(harmless(text), ascii(text))
        for value, text in zip(values, self.convert("yaml", values)):
            self.assertEqual(yaml.safe_load(text), value, ascii(text))
            self.assertTrue(harmless(text), ascii(text))

    def test_odd_strings(self):
        self.hold(ODD)
        self.hold([{"key": text} for text in ODD])
        self.hold([{text: 1, "next": text} for text in ODD if text != "next"])
        self.hold([[text, [text], {"a": [text, {"b": text}]}] for text in ODD])

    def test_numbers_and_words(self):
        self.hold([0, -1, 1.5, 1e300, -2.5e-7, 123456789012345678, True, False, None, [], {}, [[]], [{}],
                   {"a": {}}, [[1, 2], [3]], {"a": [[], {"b": None}]}, {"a": {"b": {"c": [1, {"d": "e"}]}}}])

    def test_random_data(self):
        print(f"seed {SEED}", flush=True)
        generator = random.Random(SEED)
        self.hold([self.value(generator, 4) for _ in range(ROUNDS)])

    def value(self, generator, depth):
        kind = generator.randrange(8 if depth > 0 else 5)
        if kind <= 2:
            return self.text(generator)
        if kind == 3:
            return generator.choice([True, False, None, 0, 1, -5, 1 << 53])
        if kind == 4:
            return generator.uniform(-1e20, 1e20)
        if kind == 5:
            return [self.value(generator, depth - 1) for _ in range(generator.randrange(4))]
        return {self.text(generator): self.value(generator, depth - 1)
                for _ in range(generator.randrange(4))}

    @staticmethod
    def text(generator):
        if generator.random() < 0.3:
            return generator.choice(ODD)
        return "".join(generator.choice(CHARACTERS) for _ in range(generator.randrange(12)))


if __name__ == "__main__":
    unittest.main()
