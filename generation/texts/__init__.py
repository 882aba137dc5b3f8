"""What is wrong with what a model wrote: wrappings, refusals, copies, lengths."""
