#!/usr/bin/env python3
"""Writes gpu_check.json and gpu_check.md out of what gpu_check.sh has found.

usage: gpu_report.py STEPS FOLDER. A line of STEPS is verdict, name, seconds and
text, with tabs between them. FOLDER/workloads.jsonl, if it is there, has what
tests/bench/gpu printed, ours and the peers'. Exits with 1 when a step failed.
"""

import json
import pathlib
import sys

OURS = "hawser"
PEERS = ("torch", "torch_compile", "jax", "cupy")

# TFLOP/s of products by the data sheet, without sparsity.
DATA_SHEET = {
    "NVIDIA H200": {"bf16": 989, "tf32": 494, "f32": 67},
    "NVIDIA H100 80GB HBM3": {"bf16": 989, "tf32": 494, "f32": 67},
    "NVIDIA H100 NVL": {"bf16": 835, "tf32": 417, "f32": 60},
    "NVIDIA H100 PCIe": {"bf16": 756, "tf32": 378, "f32": 51},
}


def read_steps(path):
    steps = []
    for line in path.read_text(encoding="utf-8").splitlines():
        verdict, name, seconds, text = line.split("\t")
        steps.append({"step": name, "verdict": verdict,
                      "seconds": int(seconds), "text": text})
    return steps


def read_found(path):
    """The objects of a file of them, one a line; what was cut off is not one."""
    found = []
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def chip_of(steps):
    """The name nvidia-smi gives, the first word of step `device`."""
    texts = [s["text"] for s in steps
             if s["step"] == "device" and s["verdict"] == "passed"]
    return texts[0].split(",")[0] if texts else ""


def rate(line, unit):
    """Per second, in 1e12: of flops, or of bytes."""
    return line[unit] / line["us"] * 1e-6


def data_sheet_of(name, chip):
    words = name.split("_")
    rates = DATA_SHEET.get(chip, {})
    return next((rates[w] for w in words if w in rates), None)


def ceiling_of(ours, lines, copy):
    """What `ours` could have reached: the best anybody's product, or a copy."""
    if ours["flops"]:
        best = [ours["flops"] / line["us"] * 1e-6 for line in lines
                if "us" in line and line["who"] != OURS]
        return max(best, default=None)
    return rate(copy, "bytes") if copy else None


def difference(ours, theirs):
    """The largest difference of results, by their mean magnitudes; None if
    one side has none."""
    if not ours or not theirs:
        return None
    worst = 0.0 if len(ours) == len(theirs) else float("inf")
    for mine, other in zip(ours, theirs):
        if mine["n"] != other["n"]:
            return float("inf")
        size = max(float(other["abs"]), 1e-30)
        for a, b in zip([mine["mean"]] + mine["sample"],
                        [other["mean"]] + other["sample"]):
            a, b = float(a), float(b)
            if a == b or (a != a and b != b):
                continue
            off = abs(a - b) / max(size, abs(b))
            worst = max(worst, off if off == off else float("inf"))
    return worst


def workload(ours, lines, copy, chip):
    """A row of the report, out of our line and all of the same name."""
    row = {"row": ours["row"], "workload": ours["name"]}
    for key in ("us", "first_us", "compile_ms", "detail", "skipped", "error",
                "spent"):
        if key in ours:
            row[key] = ours[key]
    theirs = {line["who"]: line for line in lines if line["who"] in PEERS}
    row["peers"] = {
        who: {"us": line["us"],
              "ratio": row["us"] / line["us"] if "us" in row else None}
        if "us" in line else
        {"why": line.get("skipped") or line.get("error", "")}
        for who, line in theirs.items()}
    off = difference(ours.get("values"), theirs.get("jax", {}).get("values"))
    if off is not None:
        row["off_jax"] = off
    # Of a few thousand numbers only the time says anything.
    if "us" not in row or "values" in ours or ours["row"] in (15, 16):
        return row
    unit = "flops" if ours["flops"] else "bytes"
    row["rate"] = rate(ours, unit)
    row["unit"] = "TFLOP/s" if ours["flops"] else "TB/s"
    row["ceiling"] = ceiling_of(ours, lines, copy)
    if row["ceiling"]:
        row["of_ceiling"] = row["rate"] / row["ceiling"]
    sheet = data_sheet_of(ours["name"], chip) if ours["flops"] else None
    if sheet:
        row["of_data_sheet"] = row["rate"] / sheet
    return row


def workloads(found, chip):
    copy = next((f for f in found if f.get("who") == "copy" and "us" in f),
                None)
    return [workload(ours,
                     [f for f in found if f.get("name") == ours["name"]],
                     copy, chip)
            for ours in found if ours.get("who") == OURS]


def versions(found):
    return {f["who"]: f.get("version") or f"not here: {f.get('missing')}"
            for f in found if "name" not in f and "who" in f}


def markdown(header, rows):
    lines = [header, ["---"] * len(header)] + rows
    return "".join(
        "| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |\n"
        for line in lines)


def step_table(steps):
    return markdown(["step", "verdict", "seconds", ""],
                    [[s["step"], s["verdict"], s["seconds"], s["text"]]
                     for s in steps])


def cells(row):
    """A line of the second table."""
    shown = [row["row"], row["workload"],
             f"{row['us']:.1f}" if "us" in row else "",
             f"{row['compile_ms']:.0f}" if "compile_ms" in row else "",
             f"{row['rate']:.3g} {row['unit']}" if "rate" in row else ""]
    for key in ("of_ceiling", "of_data_sheet"):
        shown.append(f"{row[key]:.2f}" if key in row else "")
    for who in PEERS:
        peer = row["peers"].get(who, {})
        ratio = peer.get("ratio")
        shown.append(f"{ratio:.2f}" if ratio else
                     f"({peer['us']:.1f} us)" if "us" in peer else "")
    shown.append(row.get("error") or row.get("skipped") or
                 (f"{row['off_jax']:.1g} off JAX" if "off_jax" in row else ""))
    return shown


def workload_table(rows, known):
    header = ["row", "workload", "us", "compile, ms", "rate", "/ ceiling",
              "/ data sheet"]
    text = markdown(header + [f"/ {who}" for who in PEERS] + [""],
                    [cells(row) for row in rows])
    text += ("\nRatios to peers are of times: below 1 hawser is faster. The "
             "ceiling is a copy on the device, or the best rate of anybody "
             "else's same product.\n\n")
    return text + "".join(f"- {who}: {what}\n" for who, what in known.items())


def main(steps_path, folder):
    steps = read_steps(steps_path)
    found = read_found(folder / "workloads.jsonl")
    rows, known = workloads(found, chip_of(steps)), versions(found)
    ceilings = [f for f in found if f.get("who") in ("copy", "library")]
    report = {"steps": steps, "workloads": rows, "ceilings": ceilings,
              "peers": known}
    (folder / "gpu_check.json").write_text(
        json.dumps(report, indent=1) + "\n", encoding="utf-8")
    text = step_table(steps)
    if rows:
        text += "\n" + workload_table(rows, known)
    (folder / "gpu_check.md").write_text(text, encoding="utf-8")
    return 1 if any(s["verdict"] == "failed" for s in steps) else 0


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3])))
