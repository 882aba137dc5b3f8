"""Scoring a run or a submission, for each question and type; comparing systems by paired tests."""
