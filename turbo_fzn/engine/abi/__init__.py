"""The interface of host and kernels: structs, enums and constants, defined once for both sides."""
