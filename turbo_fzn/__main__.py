import sys

from turbo_fzn.cli import main

sys.exit(main())
