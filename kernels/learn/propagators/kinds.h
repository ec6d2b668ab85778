// The kinds of wide rows, each in a header of its own that ends with the struct of its name (WideRow in wide.h).
// Printed from turbo_fzn/tnf/wide.py by `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "all_different.h"
#include "circuit.h"
#include "cumulative.h"
#include "element.h"
#include "energy.h"
#include "reachable.h"

// DO(struct, enumerator, ...) of each kind.
#define WIDE_KINDS(DO, ...) \
  DO(AllDifferent, WIDE_ALL_DIFFERENT, __VA_ARGS__) \
  DO(Cumulative, WIDE_CUMULATIVE, __VA_ARGS__) \
  DO(Element, WIDE_ELEMENT, __VA_ARGS__) \
  DO(Energy, WIDE_ENERGY, __VA_ARGS__) \
  DO(Circuit, WIDE_CIRCUIT, __VA_ARGS__) \
  DO(Reachable, WIDE_REACHABLE, __VA_ARGS__)
