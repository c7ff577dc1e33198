"""unity_test, unity_library: what a test is made of, compiled as one file.

    unity_test(
        name = "formats_test",
        srcs = glob(["*.cc", "*.h"]),
        deps = [...],
    )

is a cc_test of one file that includes all the others: what compiling a test
takes is mostly the headers of absl and GoogleTest, which are read once then.
What a file defines for itself in an anonymous namespace needs a name that no
other file of the test has. `--config=clang` compiles every file by itself, so
that each has the includes it needs.
"""

def _unity_file(ctx):
    ctx.actions.write(ctx.outputs.out, "".join([
        '#include "%s"\n' % file.short_path
        for file in ctx.files.srcs
    ]))

_unity_file_rule = rule(
    implementation = _unity_file,
    attrs = {
        "out": attr.output(mandatory = True),
        "srcs": attr.label_list(allow_files = [".cc"]),
    },
)

def _unity(rule, name, srcs, deps, **kwargs):
    files = [file for file in srcs if file.endswith(".cc")]
    unity = name + "_unity.cc"
    _unity_file_rule(
        name = name + "_unity",
        testonly = True,
        srcs = files,
        out = unity,
    )
    native.cc_library(
        name = name + "_files",
        testonly = True,
        textual_hdrs = files,
    )
    rule(
        name = name,
        srcs = [file for file in srcs if file not in files] + select({
            "//deploy/bazel:apart": files,
            "//conditions:default": [unity],
        }),
        deps = deps + select({
            "//deploy/bazel:apart": [],
            "//conditions:default": [":%s_files" % name],
        }),
        **kwargs
    )

def unity_test(name, srcs, deps, **kwargs):
    """A cc_test.

    Args:
      name: the test.
      srcs: .cc files of this folder, and headers.
      deps: as for a cc_test.
      **kwargs: as for a cc_test.
    """
    _unity(native.cc_test, name, srcs, deps, **kwargs)

def unity_library(name, srcs, deps, **kwargs):
    """A cc_library for tests alone.

    Args:
      name: the library.
      srcs: .cc files of this folder, and headers.
      deps: as for a cc_library.
      **kwargs: as for a cc_library.
    """
    _unity(native.cc_library, name, srcs, deps, testonly = True, **kwargs)
