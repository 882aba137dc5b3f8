"""How many texts were too long for a model, said once when all are scored."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from hybrid_ir.wording import counted


@dataclass(slots=True)
class Lengths:
    """Counts of what was too long.

    Attributes:
        longest: Tokens that the model takes at once.
        questions: All that were seen.
        questions_cut: Of which the end was cut.
        documents: All that were seen.
        cut: Of which the end was cut.
        behind: Of which the end is in none of their windows.
    """

    longest: int
    questions: int = 0
    questions_cut: int = 0
    documents: int = 0
    cut: int = 0
    behind: int = 0

    def question(self, cut: bool) -> None:
        """Count a question."""
        self.questions += 1
        self.questions_cut += cut

    def document(self, cut: bool = False, behind: bool = False) -> None:
        """Count a document."""
        self.documents += 1
        self.cut += cut
        self.behind += behind

    def report(self, logger: str) -> None:
        """Log one line where anything was too long.

        Args:
            logger: The name of the logger.
        """
        parts = [
            f"the end of {number:,} of {counted(all_of_them, noun)} {what}"
            for number, all_of_them, noun, what in (
                (self.questions_cut, self.questions, "question", "was cut"),
                (self.cut, self.documents, "document", "was cut"),
                (self.behind, self.documents, "document", "is in none of their windows"),
            )
            if number
        ]
        if parts:
            logging.getLogger(logger).warning(
                "%s: %d tokens are taken at once (max_length, windows)",
                "; ".join(parts),
                self.longest,
            )
