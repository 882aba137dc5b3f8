"""Training data and the cross-encoder's training program."""
