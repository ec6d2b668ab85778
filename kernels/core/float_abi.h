// What the host and the kernels for models with real variables (FLOATS) agree on besides.
// Printed from turbo_fzn/engine/abi/float_abi.py by `python -m turbo_fzn.engine.abi.header --write`: edit that one.
#pragma once

#include "abi.h"

#undef ABI_DIGEST
#define ABI_DIGEST "e2b3fcb41395199f"

constexpr i32 FIRST_FLOAT_OPERATOR = 16;
constexpr i32 FLOAT_WIDTH = 0;  // of float_words: the bits of a double, how wide an interval may stay
constexpr i32 FLOAT_STEP = 1;  // and by how much an objective is to be improved
constexpr i32 FLOAT_WORDS = 2;

// FloatOp of turbo_fzn/tnf/language.py.
enum FloatOperator {
  OP_FLOAT_ADD = 16, OP_FLOAT_MUL = 17, OP_FLOAT_LEQ = 18, OP_FLOAT_EQ = 19, OP_INT2FLOAT = 20, OP_FLOAT_EXP = 21,
  OP_FLOAT_SIN = 22, OP_FLOAT_TAN = 23, OP_FLOAT_ASIN = 24, OP_FLOAT_ATAN = 25,
};
