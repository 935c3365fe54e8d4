# SPDX-License-Identifier: Apache-2.0
"""The table of events (src/service/events.def), their texts (src/service/events.mc), and the page of both."""

import ast
import collections
import pathlib
import re

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TABLE = REPOSITORY / "src" / "service" / "events.def"
TEXTS = REPOSITORY / "src" / "service" / "events.mc"
HEADER = REPOSITORY / "src" / "service" / "event_log.h"
PAGE = REPOSITORY / "docs" / "EVENTS.md"
BEGIN, END = "<!-- events: made by integrationtests/eventlog/events_page.py -->", "<!-- end of events -->"

SEVERITY_BITS = {"INFORMATION": 1, "WARNING": 2, "ERROR": 3}
MC_SEVERITIES = {"Success": 0, "Informational": 1, "Warning": 2, "Error": 3}

Event = collections.namedtuple("Event", "name id severity category inserts routine when to_do")
Text = collections.namedtuple("Text", "severity text")


def read_table():
    """[Event], as in the .def file."""
    source = re.sub(r"/\*.*?\*/", "", TABLE.read_text(encoding="utf-8"), flags=re.S)
    events = []
    for row in re.findall(r"CSI_EVENT_KIND\((.*?)\)\s*(?=CSI_EVENT_KIND|\Z)", source, flags=re.S):
        head, *strings = re.split(r",\s*(?=\")", row.strip())
        name, number, severity, category, inserts, routine = (word.strip() for word in head.split(","))
        when, to_do = (ast.literal_eval(string) for string in strings)
        events.append(Event(name, int(number), severity, category, int(inserts), routine == "true", when,
                            to_do))
    if not events:
        raise ValueError(f"{TABLE}: no events found")
    return events


def read_texts():
    """{code: Text} of the .mc file, categories included."""
    texts = {}
    blocks = re.findall(r"^MessageId=(\d+)\nSeverity=(\w+)\nFacility=\w+\nSymbolicName=\w+\n"
                        r"Language=English\n(.*?)\n\.$", TEXTS.read_text(encoding="utf-8"), flags=re.S | re.M)
    for code, severity, text in blocks:
        texts[int(code)] = Text(MC_SEVERITIES[severity], text)
    return texts


def inserts_of(text):
    """The numbers of %1, %2 ... in a text."""
    return {int(number) for number in re.findall(r"%(\d+)", text)}


def read_categories():
    """{name: number}"""
    source = HEADER.read_text(encoding="utf-8")
    return {name: int(number) for name, number in re.findall(r"CSI_EVENT_CATEGORY_(\w+) = (\d+),", source)}


def page_table():
    """The part of the page between the marks."""
    texts = read_texts()
    categories = {number: texts[number].text for number in read_categories().values()}
    lines = ["| Id | Severity | Category | Text | When | What to do |", "|---|---|---|---|---|---|"]
    for event in read_table():
        text = re.sub(r"(%n)+", " ", texts[event.id].text).replace("|", "\\|")
        text = text.replace("<", "&lt;").replace(">", "&gt;")
        category = categories[read_categories()[event.category]]
        mark = " (not with `important`)" if event.routine else ""
        lines.append(f"| {event.id} | {event.severity.capitalize()} | {category} | {text} | "
                     f"{event.when}{mark} | {event.to_do} |")
    return "\n".join(lines)
