"""A cc_library that stands for an installed Debian library."""

def system_library(name, libs, registers = [], archive_deps = []):
    """Links an installed library; its headers are under /usr/include already.

    Args:
      name: the target in @system.
      libs: library names as after -l.
      registers: like libs, for those that work through static initializers
        nothing refers to: --as-needed and archives would both drop them.
      archive_deps: what the archives refer to and shared objects bring along.
    """
    keep = ["-l" + lib for lib in registers]
    plain = ["-l" + lib for lib in libs]
    archives = plain + ["-l" + lib for lib in archive_deps]
    native.cc_library(
        name = name,
        linkopts = select({
            ":static": (
                ["-Wl,-Bstatic", "-Wl,--whole-archive"] + keep +
                ["-Wl,--no-whole-archive", "-Wl,--start-group"] + archives +
                ["-Wl,--end-group", "-Wl,-Bdynamic"]
            ),
            "//conditions:default": (
                ["-Wl,--no-as-needed"] + keep +
                ["-Wl,--as-needed"] + plain
            ),
        }),
    )
