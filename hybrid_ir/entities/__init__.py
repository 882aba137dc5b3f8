"""Biomedical named entities: an embedded lexicon, and scispaCy's models through spaCy."""
