"""Nodes per second, as `python -m lab.bench`."""

import sys

from lab.bench import nodes, variants

arguments = nodes.read_arguments()
sys.exit(variants.main(arguments) if arguments.variants else nodes.main(arguments))
