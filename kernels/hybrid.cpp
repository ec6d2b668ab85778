// The hybrid engine on the CPU (hybrid/mailbox.h): the solver of solver.h, one OS thread a block. Another block reaches
// the fixpoints of each.
//
// That other one is a block of propagate.cu. Where there is no GPU, `serve_block` does its work, on a thread, so that
// the tests have the whole engine.
#define HYBRID
#define RETIRES_ROWS 0  // rows are run by the blocks that propagate, which know no levels

#include <stdlib.h>

#include "block.h"
#include "core/retire.h"
#include "core/store.h"
#include "hybrid/mailbox.h"
#include "hybrid/mirror.h"
#include "hybrid/propagator.h"
#include "hybrid/remote.h"
#include "solver.h"

extern "C" {

// The digest of the agreement between host and kernels that this was compiled for.
const char* abi_digest = ABI_DIGEST;

// The bytes from one mailbox to the next, where a list has room for the given number of changes.
i64 bytes_of_mailbox(i32 entries) { return mailbox_bytes(entries); }

// A block's store and lists; null when there is no memory.
static char* block_memory(const Problem* problem) {
  i64 bytes = store_bytes(*problem) + list_bytes(*problem);
  return (char*)aligned_alloc(64, (size_t)((bytes + 63) & ~(i64)63));
}

// Runs block `index` to its end, as solve_block of solve.cpp does, and has its block leave. Returns 0, or 1 when there
// is no memory for it.
int drive_block(const Problem* problem, const Mailboxes* boxes, RoundTrips* counts, i32 index) {
  char* workspace = problem->workspace + index * problem->workspace_bytes;
  char* memory = block_memory(problem);
  Mirror mirror;
  Remote remote = make_remote(*boxes, counts, index);
  bool has_memory = open_mirror(mirror, problem) && memory;
  if (has_memory) {
    BlockState state;
    Block b = make_block(problem, &state, memory, memory + store_bytes(*problem), workspace, index);
    b.mirror = &mirror;
    b.remote = &remote;
    run_block(b);
  }
  leave_block(remote);
  close_mirror(mirror);
  free(memory);
  return has_memory ? 0 : 1;
}

// Does the work of block `index` of propagate.cu. Returns as drive_block does.
int serve_block(const Problem* problem, const Mailboxes* boxes, i32 index) {
  char* workspace = problem->workspace + index * problem->workspace_bytes;
  char* memory = block_memory(problem);
  if (!memory) return 1;
  BlockState state;
  Service service;
  Block b = make_block(problem, &state, memory, memory + store_bytes(*problem), workspace, index);
  serve(b, *boxes, service);
  free(memory);
  return 0;
}
}
