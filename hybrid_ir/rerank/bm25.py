"""BM25 over each question's candidates alone: the first cut of MiBi's cascade.

"MiBi at BioASQ 2024" (section 2.1) re-ranks what PubMed's search gave with BM25: k1 1.5, b 0.75,
title and abstract, tokenizer and stop words of NLTK. Its notebook (webis-de/clef24-mibi-bioasq) did
so by ``BM25Okapi`` of the package rank_bm25, with the candidates as the whole collection. There a
word in more than half of the documents, whose weight by Robertson's formula would be negative,
weighs a quarter of the average word: more than one that is in fewer documents. Here every weight is
Lucene's, which is never negative and falls with the number of documents:

    score(q, d) = sum over the words w of q, as often as they occur there, of
                  ln(1 + (n - df(w) + 0.5) / (df(w) + 0.5))
                  * tf(w, d) (k1 + 1) / (tf(w, d) + k1 (1 - b + b |d| / mean length))

(S. Robertson, H. Zaragoza: The probabilistic relevance framework: BM25 and beyond, 2009, 3.4; the 1
in the logarithm as in Apache Lucene's ``BM25Similarity``.) n, df and the mean length are those of
the question's candidates, so a document's score depends on the others and belongs in no cache.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from hybrid_ir.rerank.candidates import Candidates, Scorer, Scores
from hybrid_ir.rerank.settings import ScorerConfig

# Written for this project, by word classes. NLTK's own list is a data file without a clear licence;
# it holds these words but the ones at the end, and what it makes of contractions, such as "t" and
# "d": with these, "T cell" and "vitamin D" would lose their letters.
STOP_WORDS = frozenset((
    # articles, determiners
    "a", "an", "the", "this", "that", "these", "those", "all", "any", "both", "each", "few", "more",
    "most", "other", "some", "such", "no", "own", "same",
    # pronouns
    "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your",
    "yours", "yourself", "yourselves", "he", "him", "his", "himself", "she", "her", "hers",
    "herself", "it", "its", "itself", "they", "them", "their", "theirs", "themselves",
    # question words
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how",
    # auxiliary verbs
    "am", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "having", "do",
    "does", "did", "doing", "can", "could", "will", "would", "shall", "should", "may", "might",
    "must",
    # prepositions
    "of", "at", "by", "for", "with", "about", "against", "between", "into", "through", "during",
    "before", "after", "above", "below", "to", "from", "up", "down", "in", "out", "on", "off",
    "over", "under", "until",
    # conjunctions
    "and", "but", "or", "nor", "if", "because", "as", "while", "than", "so",
    # adverbs
    "again", "further", "then", "once", "here", "there", "not", "only", "too", "very", "just",
    "now",
))  # fmt: skip

_APART = re.compile(r"[\s\"“”„«»`;@#$%&?!*()\[\]{}<>‒–—―]|[:,](?!\d)|--|\.\.+|''")
"""What stands between words: not hyphens and slashes, nor the comma and colon of 1,000 and 1:2."""
_CLITIC = re.compile(r"(?:'(?:s|m|d|ll|re|ve)?|n't)$")
"""What ends a word but is none: of Crohn's, patients', doesn't."""
_LETTER = re.compile(r"[^\W_]")
"""Or a digit."""
_APOSTROPHES = str.maketrans("‘’", "''")


def open_bm25(config: ScorerConfig) -> Scorer:
    """Give the scorer; it takes one question at a time and holds nothing.

    Args:
        config: Settings, of which ``k1`` and ``b`` count.
    """

    def score(candidates: Iterable[Candidates]) -> Iterator[Scores]:
        for question in candidates:
            documents = [words_of(text) for text in question.texts]
            yield bm25(words_of(question.query), documents, config.k1, config.b)

    return score


def words_of(text: str) -> list[str]:
    """Give a text's words in lower case, without stop words.

    They are those of NLTK's ``word_tokenize`` that hold a letter or digit, with these differences:
    a period at a word's end never belongs to it (there it does in "al." and "i.v."), the typeset
    apostrophe is an apostrophe, and "cannot" stays whole. In ``examples/bioasq-mini`` 99.6 % of the
    words are the same, and all but one in 10,000 where final periods do not count.
    """
    pieces = _APART.sub(" ", text.lower().translate(_APOSTROPHES)).split()
    words = (_bare(piece) if "'" in piece else piece.rstrip(".") for piece in pieces)
    return [word for word in words if word not in STOP_WORDS and _LETTER.search(word)]


def _bare(piece: str) -> str:
    return _CLITIC.sub("", piece.rstrip(".")).lstrip("'")


def bm25(query: Iterable[str], documents: Iterable[Iterable[str]], k1: float, b: float) -> Scores:
    """Score documents by the formula above, each a list of words; without such words it is 0."""
    counts = [Counter(document) for document in documents]
    lengths = np.array([count.total() for count in counts], dtype=np.float64)
    scores = np.zeros(len(counts))
    if not lengths.any():
        return scores
    norms = k1 * (1 - b + b * lengths / lengths.mean())
    for word, times in Counter(query).items():
        tf = np.array([count[word] for count in counts], dtype=np.float64)
        there = tf > 0
        df = int(there.sum())
        weight = math.log1p((len(counts) - df + 0.5) / (df + 0.5))
        scores[there] += times * weight * (k1 + 1) * tf[there] / (tf + norms)[there]
    return scores
