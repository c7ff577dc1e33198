#!/usr/bin/env python3
"""Who may include whom: the house's table, read off the #include lines.

Bazel visibility and clang's layering_check guard the edges between targets.
This adds what neither sees: headers under /usr/include, and which half of
//proto an include means.
"""

import re

import source_tree

INCLUDE = re.compile(r'\s*#\s*include\s+(["<])([^">]+)[">]')

BASE = ["core/base"]
IR = BASE + ["core/ir"]
OPS = IR + ["core/ops"]
CORE = OPS + ["core/" + name for name in (
    "autodiff", "environment", "passes", "runtime", "sharding", "vectorize", "wire")]
MESSAGES, SERVICES = "proto messages", "proto services"
UNKNOWN = "unknown"
RPC = [MESSAGES, SERVICES, "gRPC", "protobuf"]

# The longest entry that is a folder of a file's path decides; an entry of one
# word is for the files right in that folder, except in NESTED. A folder may
# always include itself; an allowed name with a dot is that one header.
NESTED = ("deploy", "tests")
ALLOWED = {
    "proto": RPC + ["absl"],
    "core/base": ["absl", "crypto"],
    "core/environment": BASE + ["absl"],
    "core/ir": BASE + ["absl"],
    "core/ops": IR + ["absl"],
    "core/autodiff": OPS + ["absl"],
    "core/passes": OPS + ["absl"],
    "core/sharding": OPS + ["absl"],
    "core/vectorize": OPS + ["absl"],
    "core/runtime": IR + ["absl"],
    "core/wire": OPS + ["core/runtime", MESSAGES, "absl", "protobuf"],
    "kernels/plan": OPS + ["core/passes", "core/runtime",
                           "core/sharding/part", "absl"],
    "kernels/cpu": OPS + ["core/runtime", "kernels/plan", "absl", "BLAS",
                          "Highway", "oneDNN"],
    "kernels/gpu": OPS + ["core/runtime", "kernels/dialect", "kernels/plan",
                          "absl"],
    "kernels/dialect": BASE + ["absl"],
    "kernels/cuda": BASE + ["kernels/dialect", "kernels/gpu/device", "absl",
                            "CUDA"],
    "kernels/emu": BASE + ["kernels/dialect", "kernels/gpu/device", "absl"],
    "client": CORE + ["client", "kernels/cpu", "absl"],
    "client/sdk": OPS + ["core/environment", "client/formats",
                         "core/autodiff", "core/passes", "core/runtime",
                         "core/sharding", "core/vectorize", "kernels/cpu",
                         "absl"],
    "client/formats": BASE + ["absl", "JSON", "zlib"],
    "client/digests": IR + ["client/formats", "core/runtime", "absl"],
    "client/remote": OPS + ["core/runtime", "core/wire", MESSAGES, "absl",
                            "protobuf"],
    "client/remote/grpc": IR + ["client/remote", "core/runtime", "core/wire",
                                "absl"] + RPC,
    "client/remote/bare": IR + ["client/remote", "core/runtime", "core/wire",
                                "absl"] + RPC,
    "client/stablehlo": OPS + ["core/runtime", "absl"],
    "client/pjrt": OPS + ["client/connect.h", "client/stablehlo",
                          "core/passes", "core/runtime", "core/sharding",
                          "kernels/cpu/evaluator.h", "absl", "JSON",
                          "protobuf"],
    "client/sharded": OPS + ["client/fallback", "core/runtime",
                             "core/sharding", "absl"],
    "client/recipes": IR + ["core/runtime", "absl"],
    "client/fallback": IR + ["client/recipes", "core/runtime",
                            "core/sharding", "absl"],
    "client/bench": BASE + ["client/remote/bare/bare_calls.h", "client/sdk",
                            "core/runtime", "absl"],
    "client/cli": CORE + ["client", "kernels/cpu", "kernels/gpu/program",
                          "kernels/plan", MESSAGES,
                         "absl", "JSON", "protobuf"],
    "client/examples": BASE + ["client", "absl"],
    "server": CORE + ["kernels", "server", "absl"] + RPC,
    "server/access": BASE + ["absl", "crypto", "gRPC"],
    "server/access/connections": BASE + ["absl"],
    "server/rpc": BASE + ["server/access", "absl"] + RPC,
    "server/session": IR + ["core/runtime", "absl"],
    "server/datasets": IR + ["core/runtime", "absl"],
    "server/datasets/index": BASE + ["core/runtime", "absl"],
    "server/datasets/storage": BASE + ["core/runtime", "absl"],
    "server/service/queue": BASE + ["core/runtime", "absl"],
    "server/service": OPS + ["core/runtime", "core/wire", "server/access",
                             "server/datasets", "server/rpc", "server/session",
                             "absl"] + RPC,
    "deploy": [],
    "tests": CORE + RPC + [
        "client", "kernels", "server", "tests", "absl", "benchmark",
        "BLAS", "crypto", "GoogleTest", "Highway", "JSON", "zlib"],
    "tests/reference": OPS + ["core/runtime", "tests/testing", "absl",
                              "GoogleTest"],
    "tests/reference/device": OPS + ["client", "core/runtime", "kernels/cpu",
                                     "tests", "absl", "GoogleTest"],
    "tests/kernels/cuda": CORE + ["kernels", "tests", "absl", "CUDA",
                                  "GoogleTest"],
}

EXTERNAL = [(re.compile(pattern), name) for pattern, name in [
    (r"absl/", "absl"),
    (r"google/protobuf/", "protobuf"),
    (r"grpc(pp|\+\+)?/", "gRPC"),
    (r"(gtest|gmock)/", "GoogleTest"),
    (r"benchmark/", "benchmark"),
    (r"hwy/", "Highway"),
    (r"openssl/", "crypto"),
    (r"zlib\.h$", "zlib"),
    (r"nlohmann/", "JSON"),
    (r"(cblas|f77blas|lapack|lapacke)\w*\.h$|openblas/", "BLAS"),
    (r"(oneapi/)?dnnl", "oneDNN"),
    (r"(cub|thrust|cuda|cooperative_groups)/", "CUDA"),
    (r"(cuda|cublas|cudnn|cufft|curand|cusolver|cusparse|nccl|nvrtc|nvml|"
     r"nvJitLink|nvToolsExt|cooperative_groups)\w*\.h$", "CUDA"),
]]

# Two folders of the product may not include each other, but for these: a
# client gives out tensors, and a tensor's node is on a client.
CIRCLES = {
    ("client/sdk/client", "client/sdk/graph"),
    ("client/sdk/client", "client/sdk/graph/run"),
}
# Here a folder's own files are what its rooms stand on, and what gathers them.
WITH_ROOMS = ("client/sdk", "core/ops")
# Upward arrows: a file of a room includes a header of the folder around it, and
# that header includes the room. How many end at a header may only go down. A
# dataset of client/sdk/client gives out tensors, which are on a client.
UPWARD = {
    "client/sdk/tensor.h": 1,
}


def rule_of(path):
    """The entry of ALLOWED a file falls under, or None."""
    for folder in path.parents:
        name = str(folder)
        direct = "/" in name or name in NESTED or folder == path.parent
        if name in ALLOWED and direct:
            return name
    return None


def target_of(quote, header):
    """What an include asks for, or None where nothing has to be allowed."""
    for pattern, name in EXTERNAL:
        if pattern.match(header):
            return name
    if header.startswith("proto/") and (
            header.endswith(".grpc.pb.h")
            or header in ("proto/bulk_frame.h", "proto/grpc_status.h")):
        return SERVICES
    if header.startswith("proto/") and header.endswith(".pb.h"):
        return MESSAGES
    if header.split("/")[0] in source_tree.FOLDERS:
        return header
    return None if quote == "<" else UNKNOWN


def is_allowed(rule, target):
    allowed = ALLOWED[rule]
    if target in allowed:
        return True
    folders = [entry for entry in allowed + [rule] if "." not in entry]
    return any(target.startswith(folder + "/") for folder in folders)


def complaint(rule, quote, header):
    target = target_of(quote, header)
    if target == UNKNOWN:
        return f'"{header}" is neither a path from the root nor a known library'
    if target is not None and not is_allowed(rule, target):
        return f"{rule} may not include {target}"
    return None


def violations(tree):
    found, unknown = [], set()
    for path in source_tree.files(tree, source_tree.CODE):
        rule = rule_of(path)
        if rule is None:
            unknown.add(path.parent)
            continue
        for number, line in enumerate(source_tree.lines(tree, path), 1):
            match = INCLUDE.match(line)
            text = complaint(rule, *match.groups()) if match else None
            if text:
                found.append(f"{path}:{number}: {text}")
    return found + circles(tree) + list(upward(tree)) + [
        f"{folder}:1: the folder has no row in layering_test.py"
        for folder in sorted(unknown)
    ]


def includes(tree):
    """For each file of the product, the files of the tree that it includes."""
    found = {}
    for path in source_tree.files(tree, source_tree.CODE):
        if path.parts[0] == "tests":
            continue
        matches = map(INCLUDE.match, source_tree.lines(tree, path))
        targets = [target_of(*match.groups()) for match in matches if match]
        found[str(path)] = [target for target in targets
                            if target and "/" in target and "." in target]
    return found


def folder_of(path):
    return path.rpartition("/")[0]


def upward(tree, allowed=None):
    """Headers that a room below includes and that include this room."""
    allowed = UPWARD if allowed is None else allowed
    graph = includes(tree)
    arrows = {header: [] for header in graph}
    for path, targets in graph.items():
        for target in targets:
            above = folder_of(target) + "/"
            if not folder_of(path).startswith(above):
                continue
            room = above + path[len(above):].split("/")[0] + "/"
            if any(t.startswith(room) for t in graph.get(target, [])):
                arrows[target].append(path)
    for header, paths in sorted(arrows.items()):
        most = allowed.get(header, 0)
        if len(paths) > most:
            yield (f"{header}:1: includes a room and is included there by "
                   f"{', '.join(paths)}; at most {most} may")
        elif len(paths) < most:
            yield (f"{header}:1: {len(paths)} upward arrows now, "
                   f"layering_test.py says {most}: lower it")


def circles(tree):
    """Folders of the product that include each other."""
    graph = includes(tree)
    arrows = {(folder_of(path), folder_of(target))
              for path, targets in graph.items() for target in targets}
    folders = set(map(folder_of, graph))
    pairs = {(a, b) for a, b in arrows if a < b and (b, a) in arrows}
    pairs = {(a, b) for a, b in pairs
             if not (a in WITH_ROOMS and b.startswith(a + "/"))}
    return [f"{a}:1: includes {b} and is included by it"
            for a, b in sorted(pairs - CIRCLES)
            ] + [f"{a}:1: no circle with {b} any more: drop its row"
                 for a, b in sorted(CIRCLES - pairs) if a in folders]


if __name__ == "__main__":
    source_tree.report(violations(source_tree.root()))
