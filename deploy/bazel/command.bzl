"""command: a program that is also a part of the bundle (deploy/bundle).

    command(
        name = "hawserd",
        srcs = ["main.cc"],
        deps = [...],
    )

gives the binary `hawserd` and, for the bundle alone, the library
`hawserd_command`, whose `int hawserd_command(int, char**)` is that program.
"""

def command(name, srcs, deps, testonly = False, visibility = None):
    """A binary, and its main function under a name of its own.

    Args:
      name: the program.
      srcs: with `int main(int argc, char** argv)`.
      deps: cc_library targets.
      testonly: as everywhere.
      visibility: of the binary.
    """
    native.cc_binary(
        name = name,
        testonly = testonly,
        srcs = srcs,
        visibility = visibility,
        deps = deps,
    )
    native.cc_library(
        name = name + "_command",
        testonly = testonly,
        srcs = srcs,
        local_defines = ["main=%s_command" % name],
        tags = ["manual"],
        visibility = ["//deploy/bundle:__pkg__"],
        deps = deps,
    )
