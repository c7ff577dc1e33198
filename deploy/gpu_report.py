#!/usr/bin/env python3
"""Writes gpu_check.json and gpu_check.md out of the steps of gpu_check.sh.

usage: gpu_report.py STEPS FOLDER. A line of STEPS is verdict, name, seconds and
text, with tabs between them. Exits with 1 when a step failed.
"""

import json
import pathlib
import sys


def read_steps(path):
    steps = []
    for line in path.read_text(encoding="utf-8").splitlines():
        verdict, name, seconds, text = line.split("\t")
        steps.append({"step": name, "verdict": verdict,
                      "seconds": int(seconds), "text": text})
    return steps


def table(steps):
    lines = ["| step | verdict | seconds | |", "|---|---|---|---|"]
    for step in steps:
        text = step["text"].replace("|", "\\|")
        lines.append(f"| {step['step']} | {step['verdict']} | "
                     f"{step['seconds']} | {text} |")
    return "\n".join(lines) + "\n"


def main(steps_path, folder):
    steps = read_steps(steps_path)
    (folder / "gpu_check.json").write_text(
        json.dumps({"steps": steps}, indent=1) + "\n", encoding="utf-8")
    (folder / "gpu_check.md").write_text(table(steps), encoding="utf-8")
    return 1 if any(s["verdict"] == "failed" for s in steps) else 0


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3])))
