# SPDX-License-Identifier: Apache-2.0
# Medians of the figures that scripts/bench.sh collected, as a Markdown table with ratios and aims.
# Input: contender, name, value, separated by tabs; contenders are echo, ours, original.
# Exit code 0 whatever the figures say.

BEGIN {
  FS = "\t"
  # label | figure | unit | compared with | aim; "<=" aims are upper bounds, ">=" lower ones
  row("PathExists, C client, p50",                  "c.path_exists.p50_us",     "us", "echo",     "<= 1.5")
  row("PathExists, C client, p99",                  "c.path_exists.p99_us",     "us", "echo",     "")
  row("PathExists, Go client, p50",                 "go.path_exists.p50_us",    "us", "original", "<= 0.6")
  row("PathExists, Go client, p99",                 "go.path_exists.p99_us",    "us", "original", "")
  row("Mkdir, C client, p50",                       "c.mkdir.p50_us",           "us", "original", "")
  row("Mkdir, C client, p99",                       "c.mkdir.p99_us",           "us", "original", "")
  row("Mkdir, Go client, p50",                      "go.mkdir.p50_us",          "us", "original", "")
  row("Mkdir, Go client, p99",                      "go.mkdir.p99_us",          "us", "original", "")
  row("Rmdir, C client, p50",                       "c.rmdir.p50_us",           "us", "original", "")
  row("Rmdir, C client, p99",                       "c.rmdir.p99_us",           "us", "original", "")
  row("Rmdir, Go client, p50",                      "go.rmdir.p50_us",          "us", "original", "")
  row("Rmdir, Go client, p99",                      "go.rmdir.p99_us",          "us", "original", "")
  row("16 callers, one connection, C client",       "c.shared.calls_per_s",     "/s", "original", "")
  row("16 callers, own connections, C client",      "c.own.calls_per_s",        "/s", "original", "")
  row("16 callers, one connection, Go client",      "go.shared.calls_per_s",    "/s", "original", ">= 2")
  row("16 callers, own connections, Go client",     "go.own.calls_per_s",       "/s", "original", ">= 2")
  row("start to all pipes up",                      "start.ms",                 "ms", "original", "<= 0.15")
  row("pipes",                                      "pipes",                    "",   "",         "")
  row("resident memory, idle",                      "idle.rss_kib",             "KiB", "original", "<= 0.25")
  row("... of it anonymous",                        "idle.anon_kib",            "KiB", "original", "")
  row("... proportional share",                     "idle.pss_kib",             "KiB", "original", "")
  row("resident memory, after load",                "loaded.rss_kib",           "KiB", "original", "<= 0.2")
  row("... of it anonymous",                        "loaded.anon_kib",          "KiB", "original", "")
  row("... proportional share",                     "loaded.pss_kib",           "KiB", "original", "")
  row("resident memory per connection, at " connections, "connection.rss_kib",  "KiB", "limit",    "<= 40")
  row("executable",                                 "exe.kib",                  "KiB", "original", "<= 0.2")
  row("executable, stripped of symbols",            "exe.stripped_kib",         "KiB", "original", "")
  row("processor time in an idle minute",           "idle.cpu_ms",              "ms", "limit",    "<= 10")
}

{ values[$1, $2] = values[$1, $2] " " $3 }

END {
  printf "| figure | echo | ours | original | ratio | aim | |\n|---|--:|--:|--:|--:|--:|---|\n"
  for (i = 1; i <= rows; i++) {
    name = figure[i]
    ours = median(values["ours", name])
    original = median(values["original", name])
    reference = with[i] == "original" ? original : ""
    echo = ""
    if (with[i] == "echo") {
      echo = median(values["echo", name ~ /p99/ ? "echo.p99_us" : "echo.p50_us"])
      reference = echo
    }
    ratio = ours != "" && reference != "" && reference > 0 ? ours / reference : ""
    judged = with[i] == "limit" ? ours : ratio
    printf "| %s | %s | %s | %s | %s | %s | %s |\n", label[i], show(echo, unit[i]), show(ours, unit[i]),
      show(original, unit[i]), ratio == "" ? "" : sprintf(ratio < 0.1 ? "%.3f" : "%.2f", ratio),
      aim[i] == "" ? "" : aim[i] (with[i] == "limit" ? " " unit[i] : with[i] == "echo" ? " x echo" : ""),
      verdict(judged, aim[i])
  }
}

function row(text, name, in_unit, compared_with, wanted) {
  rows++
  label[rows] = text
  figure[rows] = name
  unit[rows] = in_unit
  with[rows] = compared_with
  aim[rows] = wanted
}

function median(list,    parts, count) {
  count = split(list, parts, " ")
  if (count == 0) return ""
  for (i_ = 1; i_ <= count; i_++) parts[i_] += 0
  asort(parts)
  return count % 2 ? parts[(count + 1) / 2] : (parts[count / 2] + parts[count / 2 + 1]) / 2
}

function show(value, in_unit) {
  if (value == "") return ""
  return sprintf(value < 10 && in_unit != "" ? "%.1f" : "%.0f", value) (in_unit == "" ? "" : " " in_unit)
}

function verdict(value, wanted,    part) {
  if (value == "" || wanted == "") return ""
  split(wanted, part, " ")
  return (part[1] == "<=" ? value <= part[2] : value >= part[2]) ? "reached" : "missed"
}
