"""Asking a model many things, and what came of it; ``calls.ask_all`` is the way in."""
