// A wide row, whatever its kind: each function asks the struct of the kind (WideRow in wide.h).
#pragma once

#include "../state/literal.h"
#include "../state/parts.h"
#include "kinds.h"
#include "oracle.h"
#include "priority.h"
#include "wide.h"

// Returns `call` of the kind of row r; the value behind it is of no kind, and never reached.
#define OF_KIND(Kind, name, call) case name: return Kind::call;

DEVICE Priority priority_of_wide(const Wide& r) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, PRIORITY) }
  return LAST;
}

DEVICE i64 runs_of(const Wide& r) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, runs(n_arguments(r))) }
  return 0;
}

DEVICE bool may_wait(const Wide& r) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, is_costly(r)) }
  return true;
}

DEVICE bool is_choosy(const Wide& r) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, IS_CHOOSY) }
  return false;
}

DEVICE bool is_concerned(const Learner& l, i32 row, i32 place) {
  switch (wide_at(problem(l), row).kind) { WIDE_KINDS(OF_KIND, concerns(l, row, place)) }
  return true;
}

DEVICE bool run_kind(Learner& l, i32 row, const Wide& r) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, run(l, row)) }
  return true;
}

DEVICE bool explain_wide(const Learner& l, i32 row, Literal a, i32 t, Premises& why) {
  switch (wide_at(problem(l), row).kind) { WIDE_KINDS(OF_KIND, reason(l, row, a, t, why)) }
  return false;
}

#ifdef CHECK_EXPLANATIONS
static bool may_wide_hold(const Learner& l, const Wide& r, const bound_t* plain) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, allows(l, r, plain)) }
  return false;
}

static bool moves_argument(const Wide& r, i32 argument, bool upper) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, moves(argument, upper)) }
  return true;
}

static void shave_of_kind(const Learner& l, const Wide& r, bound_t* plain, bool* changed) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, shave(l, r, plain, changed)) }
}

static bool is_place_refuted(const Learner& l, const Wide& r, bound_t* plain, Literal a) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, refutes_place(l, r, plain, a)) }
  return false;
}

static bool says_all_of_kind(const Learner& l, const Wide& r) {
  switch (r.kind) { WIDE_KINDS(OF_KIND, is_exact(l, r)) }
  return false;
}
#endif
