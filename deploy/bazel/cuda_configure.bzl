"""Finds the CUDA toolkit; the build must pass with and without one.

HAWSER_CUDA (set it with --repo_env) decides:
  auto  use the toolkit if there is one (default)
  on    fail when there is none
  off   behave as if there were none

The repository has two targets, `headers` and `cudart`, and defs.bzl with
CUDA_ROOT, CUDA_VERSION and if_cuda(). Without a toolkit both targets are empty
and HAWSER_HAVE_CUDA is not defined. libcudart_static.a starts on a machine that
has no driver; every other CUDA library is opened at run time, never linked.
"""

_HEADERS = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    {headers}
)

"""

_WITH_TOOLKIT = _HEADERS.format(headers = """\
hdrs = glob(["include/**"]),
    defines = ["HAWSER_HAVE_CUDA=1"],
    includes = ["include"],""") + """\
cc_import(
    name = "cudart_archive",
    static_library = "lib/libcudart_static.a",
)

cc_library(
    name = "cudart",
    linkopts = ["-ldl", "-lpthread", "-lrt"],
    deps = [":cudart_archive", ":headers"],
)
"""

_WITHOUT_TOOLKIT = _HEADERS.format(headers = "") + """\
cc_library(name = "cudart")
"""

_DEFS = """\
CUDA_ROOT = {root}
CUDA_VERSION = {version}

def if_cuda(yes, no = []):
    return yes if CUDA_ROOT else no
"""

def _find_root(ctx):
    env = ctx.os.environ
    for variable in ["CUDA_PATH", "CUDA_HOME", ""]:
        root = env.get(variable, "") if variable else "/usr/local/cuda"

        # CUB needs nvcc and the dlopen tables need the headers: both or none.
        if (root and ctx.path(root + "/bin/nvcc").exists and
            ctx.path(root + "/include/cuda_runtime.h").exists):
            return root
    return ""

def _find_version(ctx, root):
    answer = ctx.execute([root + "/bin/nvcc", "--version"]).stdout
    words = answer.split("release ")
    return words[1].split(",")[0] if len(words) > 1 else ""

def _cuda_configure_impl(ctx):
    want = ctx.os.environ.get("HAWSER_CUDA", "auto")
    if want not in ["auto", "on", "off"]:
        fail("HAWSER_CUDA must be auto, on or off, not '%s'" % want)
    root = "" if want == "off" else _find_root(ctx)
    if want == "on" and not root:
        fail("HAWSER_CUDA=on, but bin/nvcc and include/cuda_runtime.h are " +
             "not under CUDA_PATH, CUDA_HOME or /usr/local/cuda")
    version = ""
    if root:
        version = _find_version(ctx, root)
        lib = root + "/lib64/libcudart_static.a"
        if not ctx.path(lib).exists:
            lib = root + "/lib/libcudart_static.a"
        ctx.symlink(root + "/include", "include")
        ctx.symlink(lib, "lib/libcudart_static.a")
    ctx.file("BUILD.bazel", _WITH_TOOLKIT if root else _WITHOUT_TOOLKIT)
    ctx.file("defs.bzl", _DEFS.format(
        root = repr(root),
        version = repr(version),
    ))

cuda_configure = repository_rule(
    implementation = _cuda_configure_impl,
    environ = ["CUDA_HOME", "CUDA_PATH", "HAWSER_CUDA"],
    local = True,
)
