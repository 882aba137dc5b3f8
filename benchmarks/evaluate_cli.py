"""The command line in a process of its own, as the script ``hybrid-ir`` starts it."""

import sys

from hybrid_ir.cli import main

sys.exit(main())
