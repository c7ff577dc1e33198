"""embed_text: text files as C++ constants, so a binary needs no data folder.

    embed_text(
        name = "prelude_text",
        namespace = "hawser::dialect",
        texts = {"kPrelude": "prelude.cuh"},
    )

gives "<package>/prelude_text.h" with
`extern const absl::string_view kPrelude;`. It is constant-initialized, and
followed by a NUL that is not part of the view.
"""

def embed_text(name, namespace, texts, visibility = None):
    """A cc_library whose header <name>.h declares one constant per file.

    Args:
      name: the library and the stem of its header.
      namespace: of the constants.
      texts: constant name -> file.
      visibility: as everywhere.
    """
    arguments = " ".join([
        "%s=$(location %s)" % (constant, text)
        for constant, text in texts.items()
    ])
    native.genrule(
        name = name + "_gen",
        srcs = texts.values(),
        outs = [name + ".h", name + ".cc"],
        cmd = "python3 $(location //deploy/bazel:embed_text.py) " +
              "%s/%s.h %s $(RULEDIR) %s" % (
                  native.package_name(),
                  name,
                  namespace,
                  arguments,
              ),
        tools = ["//deploy/bazel:embed_text.py"],
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        hdrs = [name + ".h"],
        visibility = visibility,
        deps = ["@system//:absl"],
    )
