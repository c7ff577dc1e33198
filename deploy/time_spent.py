#!/usr/bin/env python3
"""Says where the time of several Bazel runs went.

usage: time_spent.py FOLDER, which holds LABEL.profile.gz for each run. Actions
run beside each other, so their seconds together are more than a clock's.
"""

import collections
import gzip
import json
import pathlib
import sys

MOST = 8  # lines of what took longest

# The first word of what Bazel calls an action, and what we call it.
KINDS = {"Compiling": "compiling", "Linking": "linking", "Testing": "tests",
         "Creating": "archives", "Executing": "generators"}


def actions_of(path):
    """(kind, what, seconds) of each action that ran; no profile: none."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    except (OSError, ValueError, KeyError):
        return [], 0.0
    actions, end = [], 0.0
    for event in events:
        if "dur" not in event:
            continue
        end = max(end, (event.get("ts", 0) + event["dur"]) / 1e6)
        if event.get("cat") != "action processing":
            continue
        kind, _, what = event["name"].partition(" ")
        actions.append((KINDS.get(kind, "other"), what, event["dur"] / 1e6))
    return actions, end


def folder_of(kind, what):
    name = what.lstrip("/").replace(":", "/").split(" ")[0]
    if kind == "tests":
        return what.split(" ")[0]
    return "/".join(name.split("/")[:2])


def main(folder):
    for path in sorted(folder.glob("*.profile.gz"),
                       key=lambda path: path.stat().st_mtime_ns):
        actions, wall = actions_of(path)
        label = path.name.removesuffix(".profile.gz")
        kinds, places = collections.Counter(), collections.Counter()
        for kind, what, seconds in actions:
            kinds[kind] += seconds
            places[kind, folder_of(kind, what)] += seconds
        total = ", ".join(f"{kind} {seconds:.0f}"
                          for kind, seconds in kinds.most_common())
        print(f"time of {label}: {wall:.0f} s; of all actions: {total}")
        for (kind, place), seconds in places.most_common(MOST):
            print(f"  {seconds:5.0f} s {kind} {place}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
