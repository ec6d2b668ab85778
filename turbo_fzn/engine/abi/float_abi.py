"""The further interface of kernels for models with real variables; printed as kernels/core/float_abi.h.

It is a separate file so that kernels for other models do not contain it.
"""

from turbo_fzn.engine.abi.abi import Enumeration
from turbo_fzn.tnf.language import FIRST_FLOAT, FloatOp

FIRST_FLOAT_OPERATOR = FIRST_FLOAT
FLOAT_WIDTH = 0  # of float_words: the bits of a double, how wide an interval may stay
FLOAT_STEP = 1  # and by how much an objective is to be improved
FLOAT_WORDS = 2
CONSTANTS = ("FIRST_FLOAT_OPERATOR", "FLOAT_WIDTH", "FLOAT_STEP", "FLOAT_WORDS")

ENUMERATIONS = (Enumeration("FloatOperator", "OP_", (FloatOp,)),)
