"""Everything that knows BioASQ: its files, its submissions and its measures."""
