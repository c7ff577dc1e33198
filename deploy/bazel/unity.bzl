"""unity_library, unity_test: the sources of a folder, compiled as one file.

    unity_library(
        name = "formats",
        srcs = glob(["*.cc"]),
        hdrs = glob(["*.h"]),
        deps = [...],
    )

is a cc_library of one file that holds the text of all the others: most of what
compiling a source takes is the headers of absl and the standard library, which
are read once then. The sources of one folder are one file, those of a
subfolder another. What a source defines for itself in an anonymous namespace
needs a name that no other source of the folder has. `--config=clang` compiles
every source by itself, so that each has the includes it needs.
"""

# The text, not an #include: sources that are included would be inputs of
# whatever depends on the library, and a change in one would build all that anew.
_COMMAND = """
out=$1
shift
for file; do echo "#line 1 \\"$file\\""; cat "$file"; done >"$out"
"""

def _unity_file(ctx):
    arguments = ctx.actions.args()
    arguments.add(ctx.outputs.out)
    arguments.add_all(ctx.files.srcs)
    ctx.actions.run_shell(
        outputs = [ctx.outputs.out],
        inputs = ctx.files.srcs,
        command = _COMMAND,
        arguments = [arguments],
        mnemonic = "Unity",
        progress_message = "Creating %s" % ctx.outputs.out.short_path,
    )

_unity_file_rule = rule(
    implementation = _unity_file,
    attrs = {
        "out": attr.output(mandatory = True),
        "srcs": attr.label_list(allow_files = [".cc"]),
    },
)

def _folders(srcs, apart):
    """The .cc files of srcs by subfolder, without those that stay apart."""
    folders = {}
    for file in srcs:
        if file.endswith(".cc") and file not in apart and file[0] not in ":/":
            folders.setdefault(file.rpartition("/")[0], []).append(file)
    return folders

def _unity(rule, name, srcs, apart, copts, **kwargs):
    together, files = [], []
    for folder, members in _folders(srcs, apart).items():
        if len(members) == 1:
            continue
        unity = "_".join([name] + ([folder.replace("/", "_")] if folder else []) +
                         ["unity.cc"])
        _unity_file_rule(
            name = unity[:-len(".cc")],
            testonly = kwargs.get("testonly", rule == native.cc_test),
            srcs = members,
            out = unity,
        )
        together.append(unity)
        files += members
    rule(
        name = name,
        srcs = [file for file in srcs if file not in files] + select({
            "//deploy/bazel:apart": files,
            "//conditions:default": together,
        }),
        # A type of an anonymous namespace is not in the file that is compiled.
        copts = copts + ["-Wno-subobject-linkage"],
        **kwargs
    )

def unity_test(name, srcs, apart = [], copts = [], **kwargs):
    """A cc_test.

    Args:
      name: the test.
      srcs: .cc files, and headers.
      apart: those of srcs that are compiled by themselves.
      copts: as for a cc_test.
      **kwargs: as for a cc_test.
    """
    _unity(native.cc_test, name, srcs, apart, copts, **kwargs)

def unity_library(name, srcs, apart = [], copts = [], **kwargs):
    """A cc_library.

    Args:
      name: the library.
      srcs: .cc files, and headers.
      apart: those of srcs that are compiled by themselves.
      copts: as for a cc_library.
      **kwargs: as for a cc_library.
    """
    _unity(native.cc_library, name, srcs, apart, copts, **kwargs)
