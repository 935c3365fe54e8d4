# SPDX-License-Identifier: Apache-2.0
"""What scripts/deploy/monitoring has, as the tests need it."""

import json
import pathlib
import re

DIRECTORY = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "deploy" / "monitoring"
RULES = DIRECTORY / "csi-proxy-rules.yaml"
RULES_TEST = DIRECTORY / "csi-proxy-rules-test.yaml"
DASHBOARD = DIRECTORY / "csi-proxy-dashboard.json"

NAME = re.compile(r"\b(?<!:)((?:csi_proxy|grpc_server|process)_[a-z0-9_]+)\b(?!:)")
OF_HISTOGRAMS = re.compile(r"_(bucket|sum|count)$")
# What Grafana puts in when everything is chosen.
ALL = {"$job": "csi-proxy", "$instance": ".*", "$group": ".*", "$__rate_interval": "1m", "$__range": "5m"}


def dashboard():
    return json.loads(DASHBOARD.read_text())


def panels(board):
    """All panels that show something; rows are only titles."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def filled_in(expression, values=None):
    for name, value in {**ALL, **(values or {})}.items():
        expression = expression.replace(name, value)
    return expression


def queries(board):
    """(title of the panel, expression with its variables filled in) of everything that is asked for."""
    return [(panel["title"], filled_in(target["expr"]))
            for panel in panels(board) for target in panel["targets"]]


def metrics_in(text):
    """Metrics that are named in an expression or a file, without those that rules record (a colon)."""
    return {OF_HISTOGRAMS.sub("", name) if "_seconds" in name else name for name in NAME.findall(text)}
