"""Fusing runs, by question type where it helps."""
