"""What host and kernels agree on: structs, enums and constants, once for both sides."""
