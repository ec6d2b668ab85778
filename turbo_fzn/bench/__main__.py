import sys

from turbo_fzn.bench import nodes, variants

arguments = nodes.read_arguments()
sys.exit(variants.main(arguments) if arguments.variants else nodes.main(arguments))
