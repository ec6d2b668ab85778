"""The version of the package: setup.cfg, `--version` and the solver configuration read it here."""

__version__ = "1.0.0"
