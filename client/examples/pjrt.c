/* A C program that computes with hawser by the PJRT C ABI. It opens the plugin,
   and needs no header or library of hawser's; a larger one would include XLA's
   xla/pjrt/c/pjrt_c_api.h instead of declaring what it calls.

     cc pjrt.c -ldl -o pjrt
     HAWSER_SERVERS=gpu-1:7070 ./pjrt /path/to/libhawser_pjrt.so [ARTIFACT]

   ARTIFACT: a portable artifact of StableHLO, of (f32[2], f32[2]) -> f32[2]. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every struct begins with its size and a pointer to extensions. */
#define HEADER size_t size; void* extension
typedef struct { HEADER; void* handle; } Args; /* of what takes or gives one */
typedef struct { HEADER; void* error; const char* text; size_t length; } Message;
typedef struct { HEADER; const void* options; size_t count; void* keys[4];
                 void* client; } Create;
typedef struct { HEADER; const char* code; size_t length;
                 const char* format; size_t format_length; } Program;
typedef struct { HEADER; void* client; const Program* program;
                 const char* options; size_t length; void* program_out; } Compile;
typedef struct { HEADER; void* client; const void* data; int type;
                 const int64_t* dims; size_t rank; const int64_t* strides;
                 size_t num_strides; int semantics; void* device; void* memory;
                 void* layout; void* done; void* buffer; } Put;
typedef struct { HEADER; void* program; void* options; void** const* arguments;
                 size_t devices; size_t count; void** const* results;
                 void** done; void* device; } Execute;
typedef struct { HEADER; void* buffer; const void* layout; void* to;
                 size_t bytes; void* done; } Fetch;
typedef struct { HEADER; int major, minor; } Version;

/* The places of entries in the table. */
enum { ERROR_DESTROY = 0, ERROR_MESSAGE = 1, EVENT_DESTROY = 5, EVENT_AWAIT = 8,
       CLIENT_CREATE = 10, CLIENT_DESTROY = 11, COMPILE = 20, PUT = 22,
       PROGRAM_DESTROY = 50, EXECUTE = 55, BUFFER_DESTROY = 58, FETCH = 70 };
typedef struct { HEADER; Version version; void* (*entries[138])(void*); } Api;

static const Api* api;

/* Calls an entry; returns 0 and prints what it says if that is an error. */
static int call(int entry, void* args) {
  void* error = api->entries[entry](args);
  if (error == NULL) return 1;
  Message said = {sizeof(said), NULL, error, NULL, 0};
  api->entries[ERROR_MESSAGE](&said);
  printf("error: %.*s\n", (int)said.length, said.text);
  Args gone = {sizeof(gone), NULL, error};
  api->entries[ERROR_DESTROY](&gone);
  return 0;
}

static void destroy(int entry, void* handle) {
  Args args = {sizeof(args), NULL, handle};
  call(entry, &args);
}

static int await(void* event) {
  Args args = {sizeof(args), NULL, event};
  const int ok = call(EVENT_AWAIT, &args);
  destroy(EVENT_DESTROY, event);
  return ok;
}

static void* compile(void* client, const char* code, size_t length) {
  const Program program = {sizeof(program), NULL, code, length, "mlir", 4};
  Compile args = {.size = sizeof(args), .client = client, .program = &program};
  return call(COMPILE, &args) ? args.program_out : NULL;
}

static void* put(void* client, const float* values, int64_t count) {
  Put args = {.size = sizeof(args), .client = client, .data = values,
              .type = 11 /* f32 */, .dims = &count, .rank = 1};
  return call(PUT, &args) && await(args.done) ? args.buffer : NULL;
}

/* Runs a program of two arguments and prints its two-element result. */
static void run(const char* what, void* program, void* a, void* b) {
  void *arguments[] = {a, b}, *result = NULL;
  void **from[] = {arguments}, **to[] = {&result};
  Execute args = {.size = sizeof(args), .program = program, .arguments = from,
                  .devices = 1, .count = 2, .results = to};
  printf("%s: ", what);
  if (!call(EXECUTE, &args)) return;
  float values[2];
  Fetch fetch = {.size = sizeof(fetch), .buffer = result, .to = values,
                 .bytes = sizeof(values)};
  if (call(FETCH, &fetch) && await(fetch.done)) {
    printf("%g %g\n", values[0], values[1]);
  }
  destroy(BUFFER_DESTROY, result);
}

/* Adds two arrays; the sum may take the memory of the first. */
static const char kSum[] =
    "func.func @main(%a: tensor<2xf32> {tf.aliasing_output = 0 : i32},\n"
    "                %b: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %sum = stablehlo.add %a, %b : tensor<2xf32>\n"
    "  return %sum : tensor<2xf32>\n"
    "}\n";

int main(int argc, char** argv) {
  void* plugin = argc < 2 ? NULL : dlopen(argv[1], RTLD_NOW);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", argc < 2 ? "usage: pjrt PLUGIN [ARTIFACT]" : dlerror());
    return 2;
  }
  api = ((const Api* (*)(void))dlsym(plugin, "GetPjrtApi"))();
  Create create = {.size = sizeof(create)};
  if (!call(CLIENT_CREATE, &create)) return 1;
  void* client = create.client;

  const float ones[] = {1, 2}, tens[] = {10, 20};
  void *a = put(client, ones, 2), *b = put(client, tens, 2);
  void* sum = compile(client, kSum, strlen(kSum));
  run("sum", sum, a, b);
  run("sum again", sum, a, b); /* an error: a was donated */
  run("without an argument", sum, NULL, b);
  compile(client, "func.func @main( {", 18);

  FILE* file = argc < 3 ? NULL : fopen(argv[2], "rb");
  if (file != NULL) {
    static char code[1 << 20];
    void* artifact = compile(client, code, fread(code, 1, sizeof(code), file));
    fclose(file);
    if (artifact != NULL) run("artifact", artifact, b, b);
    destroy(PROGRAM_DESTROY, artifact);
  }
  destroy(PROGRAM_DESTROY, sum);
  destroy(BUFFER_DESTROY, a);
  destroy(BUFFER_DESTROY, b);
  destroy(CLIENT_DESTROY, client);
  return 0;
}
