"""What BioASQ states a submission may hold, for its editions since the fifth."""

MAX_DOCUMENTS = 10
MAX_SNIPPETS = 10
MAX_FACTOID_ENTRIES = 5
MAX_LIST_ENTRIES = 100
MAX_LIST_ENTRY_CHARACTERS = 100
MAX_IDEAL_WORDS = 200
"""Counted as BioASQ's server counts them: runs of characters between white space."""
