"""C++ from .proto files, by the installed protoc and grpc_cpp_plugin.

    proto_cc_library(
        name = "messages",
        srcs = ["graph.proto", "executor.proto"],
    )

    grpc_cc_library(
        name = "services",
        srcs = ["executor.proto"],
        messages = ":messages",
    )

Files import each other from the repository root ("proto/graph.proto"), and C++
includes "proto/graph.pb.h" and "proto/executor.grpc.pb.h".
"""

# Generated code is not held to our warnings: -w for its sources, and a pragma
# in its headers, since those are compiled inside our sources.
_MARK_HEADERS = "sed -i '1i #pragma GCC system_header' "

def _generate(name, srcs, imports, suffix, protoc_flags):
    outs = [
        src[:-len(".proto")] + suffix + extension
        for src in srcs
        for extension in [".h", ".cc"]
    ]
    headers = [out for out in outs if out.endswith(".h")]
    native.genrule(
        name = name + "_gen",
        srcs = srcs + imports,
        outs = outs,
        cmd = " && ".join([
            "protoc -I. %s %s" % (
                protoc_flags,
                " ".join(["$(location %s)" % src for src in srcs]),
            ),
            _MARK_HEADERS +
            " ".join(["$(location %s)" % header for header in headers]),
        ]),
        visibility = ["//visibility:private"],
    )
    return outs

def _library(name, outs, deps, visibility):
    native.cc_library(
        name = name,
        srcs = [out for out in outs if out.endswith(".cc")],
        hdrs = [out for out in outs if out.endswith(".h")],
        copts = ["-w"],
        visibility = visibility,
        deps = deps,
    )

def proto_cc_library(name, srcs, deps = [], visibility = None):
    """A cc_library with the messages of `srcs`.

    Args:
      name: the library; its files are also the filegroup `<name>_protos`.
      srcs: .proto files of this package, which may import each other.
      deps: other proto_cc_library targets that `srcs` import from.
      visibility: of the library and the filegroup.
    """
    native.filegroup(
        name = name + "_protos",
        srcs = srcs + [dep + "_protos" for dep in deps],
        visibility = visibility,
    )
    outs = _generate(
        name = name,
        srcs = srcs,
        imports = [dep + "_protos" for dep in deps],
        suffix = ".pb",
        protoc_flags = "--cpp_out=$(GENDIR)",
    )
    _library(name, outs, deps + ["@system//:protobuf"], visibility)

def grpc_cc_library(name, srcs, messages, visibility = None):
    """A cc_library with the client stubs and service classes of `srcs`.

    Args:
      name: the library.
      srcs: .proto files of this package that define services.
      messages: the proto_cc_library that holds `srcs`; it comes along as a dep.
      visibility: of the library.
    """
    outs = _generate(
        name = name,
        srcs = srcs,
        imports = [messages + "_protos"],
        suffix = ".grpc.pb",
        protoc_flags = "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin " +
                       "--grpc_out=generate_mock_code=false:$(GENDIR)",
    )
    _library(name, outs, [messages, "@system//:grpc"], visibility)
