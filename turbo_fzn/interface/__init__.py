"""The parts of the package that Python users import."""
