#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""events_page.py: writes the table of docs/EVENTS.md anew, from src/service/events.def and events.mc."""

import events


def main():
    text = events.PAGE.read_text(encoding="utf-8")
    before, rest = text.split(events.BEGIN, 1)
    _, after = rest.split(events.END, 1)
    page = f"{before}{events.BEGIN}\n{events.page_table()}\n{events.END}{after}"
    events.PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
