import sys

from turbo_fzn.bench.nodes import main

sys.exit(main())
