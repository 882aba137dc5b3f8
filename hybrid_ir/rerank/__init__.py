"""Re-ranking: scoring the documents of a run anew. Only inference; training is in ``training``."""
