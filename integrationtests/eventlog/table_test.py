#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table_test.py [CLASS.test ...]: every event has its text, every text its event; the page shows them all."""

import unittest

import events


class Table(unittest.TestCase):
    def setUp(self):
        self.events, self.texts = events.read_table(), events.read_texts()

    def test_every_event_has_a_text(self):
        for event in self.events:
            with self.subTest(event.name):
                text = self.texts[event.id]
                self.assertEqual(text.severity, events.SEVERITY_BITS[event.severity])
                # Every string that is reported is shown, and no other is asked for.
                self.assertLessEqual(events.inserts_of(text.text), set(range(1, event.inserts + 1)))
                if event.name not in ("CALL_REJECTED",):
                    self.assertEqual(events.inserts_of(text.text), set(range(1, event.inserts + 1)))

    def test_every_text_has_an_event(self):
        categories = events.read_categories()
        self.assertEqual(set(self.texts) - {event.id for event in self.events}, set(categories.values()))
        for number in categories.values():
            self.assertEqual(self.texts[number].severity, 0)

    def test_texts_are_one_line(self):
        for code, text in self.texts.items():
            self.assertNotIn("\n", text.text, code)

    def test_ids_and_names_are_unique(self):
        self.assertEqual(len({event.id for event in self.events}), len(self.events))
        self.assertEqual(len({event.name for event in self.events}), len(self.events))

    def test_page(self):
        text = events.PAGE.read_text(encoding="utf-8")
        self.assertIn(f"{events.BEGIN}\n{events.page_table()}\n{events.END}", text,
                      "docs/EVENTS.md is not up to date: run integrationtests/eventlog/events_page.py")


if __name__ == "__main__":
    unittest.main(verbosity=2)
