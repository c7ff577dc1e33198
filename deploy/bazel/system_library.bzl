"""A cc_library that stands for an installed Debian library."""

def system_library(name, libs, archive_deps = []):
    """Links an installed library; its headers are under /usr/include already.

    Args:
      name: the target in @system.
      libs: library names as after -l.
      archive_deps: what the archives refer to and shared objects bring along.
    """
    plain = ["-l" + lib for lib in libs]
    archives = plain + ["-l" + lib for lib in archive_deps]
    native.cc_library(
        name = name,
        linkopts = select({
            ":static": (
                ["-Wl,-Bstatic", "-Wl,--start-group"] + archives +
                ["-Wl,--end-group", "-Wl,-Bdynamic"]
            ),
            "//conditions:default": ["-Wl,--as-needed"] + plain,
        }),
    )
