"""A test over the source tree as it lies on disk."""

def style_test(name):
    """Runs <name>.py.

    It reads files Bazel does not know as its inputs: `external` keeps an old
    result from being reused, `local` keeps the tree reachable. Sanitizers have
    nothing to see in it.
    """
    native.sh_test(
        name = name,
        size = "small",
        srcs = [name + ".py"],
        data = ["source_tree.py"],
        tags = [
            "external",
            "local",
            "no_san",
        ],
    )
