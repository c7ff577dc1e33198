"""rules_proto for Bazel 4: the native rules under their Starlark names."""

proto_lang_toolchain = native.proto_lang_toolchain
proto_library = native.proto_library
