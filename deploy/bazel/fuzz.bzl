"""fuzz_test: an LLVMFuzzerTestOneInput as an ordinary test and for libFuzzer.

    fuzz_test(
        name = "decoder_fuzz_test",
        srcs = ["decoder_fuzz_test.cc"],
        corpus = glob(["decoder_corpus/*"]),
        deps = ["//core/wire"],
    )

`bazel test` replays the corpus and a fixed number of seeded mutations of it;
`bazel test --config=san` lets clang's libFuzzer search for 20 s from the corpus,
with asan and ubsan beneath. deploy/fuzz.sh searches for longer.
"""

# The same search each time: a test says of a change that it broke something,
# deploy/fuzz.sh searches anew. 4 GiB is twice what asan needs for the largest
# input that any limit lets through.
LIBFUZZER = [
    "-seed=1",
    "-max_total_time=20",
    "-timeout=20",
    "-rss_limit_mb=4096",
]

def fuzz_test(
        name,
        srcs,
        deps,
        corpus,
        mutations = 2000,
        tags = [],
        size = "small"):
    """A cc_test; see above.

    Args:
      name: the test.
      srcs: the file with LLVMFuzzerTestOneInput.
      deps: what it fuzzes.
      corpus: input files to start from.
      mutations: how many `bazel test` tries, for inputs that take long.
      tags: as for a test.
      size: as for a test.
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = select({
            "//deploy/bazel:libfuzzer": LIBFUZZER + [
                "-seed_inputs=" + ",".join([
                    "$(location %s)" % file
                    for file in corpus
                ]),
            ],
            "//conditions:default": ["--mutations=%d" % mutations] + [
                "$(location %s)" % file
                for file in corpus
            ],
        }),
        data = corpus,
        linkopts = select({
            "//deploy/bazel:libfuzzer": ["-fsanitize=fuzzer"],
            "//conditions:default": [],
        }),
        tags = tags,
        deps = deps + select({
            "//deploy/bazel:libfuzzer": [],
            "//conditions:default": ["//deploy/bazel:fuzz_replay"],
        }),
    )
