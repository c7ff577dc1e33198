"""cuda_library: .cu files compiled by nvcc and linked like any cc_library.

    cuda_library(
        name = "primitives",
        srcs = ["primitives.cu"],
        hdrs = ["primitives.h"],
        stub_srcs = ["primitives_absent.cc"],  # used where there is no toolkit
        deps = ["//core/base"],
    )
"""

load("@local_cuda//:defs.bzl", "CUDA_ROOT")

# Kernels that NVRTC compiles at run time take the device's own architecture.
# What is compiled here starts at Turing, the oldest that CUDA 13 knows, as PTX,
# and adds machine code for Hopper, the GPU it is tested on.
_ARCHITECTURES = [
    "-gencode=arch=compute_75,code=compute_75",
    "-gencode=arch=compute_90,code=sm_90",
]

def _compile(ctx, source, inputs, flags):
    output = ctx.actions.declare_file(
        "_nvcc/%s/%s.pic.o" % (ctx.label.name, source.basename),
    )
    arguments = ctx.actions.args()
    arguments.add_all(["-c", "-std=c++20", "-O2", "-ccbin", "g++"])
    arguments.add_all(["-Xcompiler", "-fPIC", "-Werror", "all-warnings"])
    arguments.add_all(_ARCHITECTURES)
    arguments.add_all(flags)
    arguments.add(source)
    arguments.add("-o", output)
    ctx.actions.run(
        executable = CUDA_ROOT + "/bin/nvcc",
        arguments = [arguments],
        inputs = depset([source], transitive = [inputs]),
        outputs = [output],
        mnemonic = "NvccCompile",
        progress_message = "Compiling %s" % source.short_path,
        use_default_shell_env = True,
    )
    return output

def _nvcc_library_impl(ctx):
    merged = cc_common.merge_cc_infos(
        cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
    )
    context = merged.compilation_context
    flags = ["-I.", "-I" + ctx.bin_dir.path]
    for folders in [
        context.includes,
        context.quote_includes,
        context.system_includes,
    ]:
        flags += ["-I" + folder for folder in folders.to_list()]
    flags += ["-D" + define for define in context.defines.to_list()]
    inputs = depset(ctx.files.hdrs, transitive = [context.headers])
    objects = depset([_compile(ctx, s, inputs, flags) for s in ctx.files.srcs])

    toolchain = ctx.attr._cc_toolchain[cc_common.CcToolchainInfo]
    linking, _ = cc_common.create_linking_context_from_compilation_outputs(
        actions = ctx.actions,
        name = ctx.label.name,
        compilation_outputs = cc_common.create_compilation_outputs(
            objects = objects,
            pic_objects = objects,
        ),
        cc_toolchain = toolchain,
        disallow_dynamic_library = True,
        feature_configuration = cc_common.configure_features(
            ctx = ctx,
            cc_toolchain = toolchain,
        ),
    )
    own = CcInfo(linking_context = linking)
    return [
        DefaultInfo(files = objects),
        cc_common.merge_cc_infos(direct_cc_infos = [own], cc_infos = [merged]),
    ]

_nvcc_library = rule(
    implementation = _nvcc_library_impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".cu"]),
        "hdrs": attr.label_list(allow_files = True),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(
            default = "@bazel_tools//tools/cpp:current_cc_toolchain",
        ),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def cuda_library(
        name,
        srcs,
        stub_srcs,
        hdrs = [],
        deps = [],
        visibility = None):
    """Device code; `stub_srcs` stand in where there is no toolkit.

    Args:
      name: the library.
      srcs: .cu files.
      stub_srcs: .cc files with the same functions, which say what is missing.
      hdrs: headers that both include.
      deps: cc_library targets.
      visibility: as everywhere.
    """
    if CUDA_ROOT:
        _nvcc_library(
            name = name + "_nvcc",
            srcs = srcs,
            hdrs = hdrs,
            visibility = ["//visibility:private"],
            deps = deps + ["@local_cuda//:cudart"],
        )

        # A target of its own, because only a cc_library has the module map that
        # layering_check reads.
        native.cc_library(
            name = name,
            hdrs = hdrs,
            visibility = visibility,
            deps = deps + [name + "_nvcc"],
        )
    else:
        native.cc_library(
            name = name,
            srcs = stub_srcs,
            hdrs = hdrs,
            visibility = visibility,
            deps = deps,
        )
