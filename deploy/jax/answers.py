"""The other end of workers.py: what such a process does with its lines."""

import json
import os
import re
import sys
import time


# What a refusal says beside what is lacking.
WHERE = re.compile(r",? \d+ times| at byte \d+|\.$|\(.*?:\d+:\d+\)")


def refusal(text):
    """Why hawser, or JAX for its platform, refuses; None if nothing does."""
    lacks = re.search(r"hawser lacks ([^\n]*)", text)
    if lacks:
        kinds = {WHERE.sub("", part).strip() for part in lacks[1].split(";")}
        return "hawser lacks " + "; ".join(sorted(kinds))
    rule = re.search(
        r"rule for primitive '?([\w-]+)'? not found for platform hawser", text)
    if rule:
        return f"JAX has no rule of {rule[1]} for it"
    unimplemented = re.search(r"UNIMPLEMENTED: ([^\n]*)", text)
    return unimplemented[1][:160] if unimplemented else None


def answer(greeting, verdict):
    """Greets, then answers each line with verdict(line): (outcome, why).

    What is printed meanwhile goes to the log.
    """
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    print(json.dumps(greeting), file=out)
    for line in sys.stdin:
        start = time.monotonic()
        outcome, why = verdict(line.rstrip("\n"))
        print(json.dumps([outcome, why, round(time.monotonic() - start, 3)]),
              file=out)
