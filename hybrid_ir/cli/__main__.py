"""``python -m hybrid_ir.cli`` is ``hybrid-ir``."""

import sys

from hybrid_ir.cli import main

sys.exit(main())
