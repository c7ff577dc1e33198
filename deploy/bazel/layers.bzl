"""Visibility lists, one per layer of the house (who may include whom).

    load("//deploy/bazel:layers.bzl", "PROTO_USERS", "TESTS")

    cc_library(name = "wire", visibility = PROTO_USERS + TESTS, ...)

A folder that one layer must not see is kept out by leaving that list out. What
Bazel cannot say this way (the order of folders inside core, external headers)
is checked by //tests/style:layering_test.
"""

CORE = ["//core:__subpackages__"]
KERNELS = ["//kernels:__subpackages__"]
CLIENT = ["//client:__subpackages__"]
SERVER = ["//server:__subpackages__"]
TESTS = ["//tests:__subpackages__"]

# The two mains that put everything together.
SERVER_MAIN = ["//server:__pkg__"]
CLI_MAIN = ["//client/cli:__pkg__"]

# Protobuf types stop here.
PROTO_USERS = [
    "//client/remote:__subpackages__",
    "//core/wire:__pkg__",
    "//server:__pkg__",
    "//server/service:__subpackages__",
]

# gRPC types stop here.
GRPC_USERS = [
    "//client/remote/bare:__pkg__",
    "//client/remote/grpc:__subpackages__",
    "//server:__pkg__",
    "//server/rpc:__pkg__",
    "//server/service:__pkg__",
]
BULK_USERS = [
    "//client/remote/bare:__pkg__",
    "//client/remote/grpc:__subpackages__",
    "//server/service:__subpackages__",
]
