"""Our side of ``pubmed.py``: ``pubmed_cli.py ARGUMENT...`` is ``hybrid-ir ARGUMENT...``."""

import sys

from hybrid_ir.cli import main

if __name__ == "__main__":  # processes that read XML import this file
    sys.exit(main(sys.argv[1:]))
