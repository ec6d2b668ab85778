"""The interface of host and kernels: structs, enums and constants, defined once for both sides."""

from turbo_fzn.engine.abi import abi as abi  # first: the digest depends on the order in which the records are defined
