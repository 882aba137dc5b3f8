"""Words for generated citations: as many, and as unevenly frequent, as in PubMed.

200,000 words made of syllables stand behind some hundred real ones; the word of rank r occurs in
proportion to 1 / (r + 2.7), after Zipf and Mandelbrot. The text says nothing, but the length of
words, sentences and documents, the share of stop words, and the sizes of an index's dictionary and
postings are near those of real text.
"""

from __future__ import annotations

import numpy as np

VOCABULARY = 200_000
_RESOLUTION = 22  # bits: 4 million draws tell words of a frequency of 1 in 4 million apart
_SENTENCE = 20  # words on average
_COMMON_TEXT = (
    "the of and in to with a for was were is by that as from on patients or are this at be an which"
    " not after between study these than had group has been p&lt;0.05 treatment cells cell results"
    " we using it have disease clinical during both high studies may also data effect all analysis"
    " levels two expression activity compared significantly effects more time risk significant 95%"
    " increased blood (n=24) patient cancer age protein one health associated among but factors"
    " different response human years control well used care model rate IL-6 case TNF-α low method"
    " observed into other no treated type DNA mean showed β-cells can when 0.001 &gt;65"
)
_SYLLABLE_TEXT = (
    "a al an ar ba bi car cen cer chro ci co col cor cy de der di dis ec en ep er fi gen gly he ho"
    " hy in ke la li lo lym ma me mi mo my na ne neo ni no o on pa pe phy pro ra re ri ro sa se si"
    " ta te thro ti to ul va ven vi xa"
)
_COMMON = _COMMON_TEXT.split()
_SYLLABLES = _SYLLABLE_TEXT.split()


def make_vocabulary() -> list[str]:
    """Give the words by rank, all different."""
    words = dict.fromkeys(_COMMON)
    number = len(_SYLLABLES)  # from here on a number has two digits, in the base of the syllables
    while len(words) < VOCABULARY:
        words[_spell(number)] = None
        number += 1
    return list(words)


def _spell(number: int) -> str:
    syllables = []
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[digit])
    return "".join(syllables)


class Writer:
    """Draws words and makes sentences of them; a seed gives the same text everywhere."""

    def __init__(self, *seed: int) -> None:
        """Prepare to draw; the numbers of the seed are taken together."""
        self._words = make_vocabulary()
        frequencies = 1 / (np.arange(VOCABULARY) + 2.7)
        steps = np.cumsum(frequencies) / frequencies.sum()
        draws = (np.arange(2**_RESOLUTION) + 0.5) / 2**_RESOLUTION
        self._ranks = np.searchsorted(steps, draws).astype(np.int32)
        self.chance = np.random.default_rng(seed)
        self._drawn: list[int] = []
        self._at = 0

    def ranks(self, count: int) -> list[int]:
        """Draw the ranks of words."""
        if self._at + count > len(self._drawn):
            self._drawn = self._draw(max(count, 1 << 18))
            self._at = 0
        self._at += count
        return self._drawn[self._at - count : self._at]

    def _draw(self, count: int) -> list[int]:
        drawn: list[int] = self._ranks[self.chance.integers(0, 2**_RESOLUTION, count)].tolist()
        return drawn

    def words(self, count: int) -> list[str]:
        """Draw words."""
        return [self._words[rank] for rank in self.ranks(count)]

    def name(self, number: int) -> str:
        """Give the name of a number: the same each time, in capitals as names are."""
        return self._words[len(_COMMON) + number % (VOCABULARY - len(_COMMON))].capitalize()

    def rare_words(self, count: int) -> list[str]:
        """Draw words that are none of the most common, as a question has them."""
        chosen: list[str] = []
        while len(chosen) < count:
            chosen += [self._words[rank] for rank in self.ranks(1) if rank >= len(_COMMON)]
        return chosen

    def sentence(self, count: int) -> str:
        """Write a sentence of so many words."""
        text = " ".join(self.words(count))
        return f"{text[0].upper()}{text[1:]}."

    def prose(self, count: int) -> str:
        """Write sentences of so many words in all."""
        full, rest = divmod(count, _SENTENCE)
        lengths = [_SENTENCE] * full + ([rest] if rest else [])
        return " ".join(map(self.sentence, lengths))
