"""Longest matches of a lexicon's variants in a list of tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from hybrid_ir.entities.lexicon_file import Concept

Named: TypeAlias = tuple[str, str | None]
"""Label and MeSH id."""
Match: TypeAlias = tuple[int, Named]
"""The token after the match, and what was found."""

_BEFORE_DISEASES = frozenset((
    "atrial", "avascular", "bladder", "bronchial", "cardiac", "cardiovascular", "cerebellar",
    "cerebral", "cholestatic", "chorioretinal", "colonic", "colorectal", "coronary", "cutaneous",
    "diastolic", "endothelial", "eosinophilic", "epithelial", "esophageal", "gastric",
    "gastrointestinal", "glomerular", "granulomatous", "hemorrhagic", "hepatic", "hepatocellular",
    "hippocampal", "idiopathic", "immunologic", "interstitial", "intestinal", "intracranial",
    "ischemic", "leucocytoclastic", "leukocytoclastic", "liver", "lung", "meningeal", "metabolic",
    "mitochondrial", "muscle", "myocardial", "necrotic", "neurogenic", "ocular", "orthostatic",
    "penile", "postoperative", "prostatic", "pulmonary", "renal", "retinal", "skin",
    "streptococcal", "supraventricular", "systolic", "tubular", "ureteral", "urothelial",
    "valvular", "vascular", "venous", "ventricular", "viral",
))  # fmt: skip
"""Words of place and course that belong to the disease they stand before."""
_SINGLE, _LONG, _PLACE = 1, 2, 4


class Matcher:
    """The variants of a lexicon, indexed by how they begin."""

    def __init__(self, concepts: Iterable[Concept]) -> None:
        """Index concepts; where two have a variant, the later one takes it."""
        self._entries: dict[str, Named] = {}
        for one in concepts:
            self._entries.update(dict.fromkeys(one.variants, (one.label, one.mesh_id)))
        self._begins: dict[str, int] = dict.fromkeys(_BEFORE_DISEASES, _PLACE)
        """First tokens of variants, in lower case -> whether one ends or goes on there; places."""
        self._longest: dict[str, int] = {}
        """Their first two tokens in lower case -> most tokens of a variant that begins so."""
        self._index()

    @property
    def labels(self) -> frozenset[str]:
        """The labels of the concepts."""
        return frozenset(label for label, _ in self._entries.values())

    def _index(self) -> None:
        begins, longest = self._begins, self._longest
        for key in self._entries:
            first, blank, rest = key.lower().partition(" ")
            begins[first] = begins.get(first, 0) | (_LONG if blank else _SINGLE)
            if blank:
                second, _, more = rest.partition(" ")
                pair = f"{first} {second}"
                length = more.count(" ") + 3 if more else 2
                if length > longest.get(pair, 0):
                    longest[pair] = length

    def matches(
        self,
        forms: list[str],
        known: Mapping[int, tuple[int, Named | None]],
        guessed: Mapping[int, Match],
    ) -> list[tuple[int, int, Named]]:
        """Give (first token, the token after the last, what it is), from the left, no overlaps.

        Args:
            forms: The tokens' forms.
            known: By position, what stands there unless the lexicon has a longer match; None for
                no entity.
            guessed: By position, what stands there unless the lexicon has a match as long.
        """
        lowered = [form.lower() for form in forms]
        begins = self._begins
        chains: dict[int, Match | None] = {}
        matches: list[tuple[int, int, Named]] = []
        after = 0
        for position, word in enumerate(lowered):
            if position < after:
                continue
            kind = begins.get(word)
            if kind is None and word[-1] == "s":
                kind = begins.get(word[:-1], 0) & ~_PLACE
            found = self._match(forms, lowered, position, kind, chains) if kind else None
            if guessed and position in guessed and (not found or found[0] < guessed[position][0]):
                found = guessed[position]
            if known and position in known and (not found or found[0] <= known[position][0]):
                after, named = known[position]
                if named:
                    matches.append((position, after, named))
            elif found:
                after = found[0]
                matches.append((position, *found))
        return matches

    def _match(
        self,
        forms: list[str],
        lowered: list[str],
        position: int,
        kind: int,
        chains: dict[int, Match | None],
    ) -> Match | None:
        found = None
        if kind & _PLACE:
            if position not in chains:
                self._fill_chain(forms, lowered, position, chains)
            found = chains[position]
        elif kind & _LONG:
            found = self._long_match(forms, lowered, position)
        if not found and kind & _SINGLE and (named := self._look_up(forms[position])):
            return position + 1, named
        return found

    def _fill_chain(
        self, forms: list[str], lowered: list[str], first: int, chains: dict[int, Match | None]
    ) -> None:
        """Match from each word of a run of place words: two tokens and more, from the run's end.

        A place word takes the disease that begins after it; each word is looked at once, however
        long the run.
        """
        end = first
        while end < len(forms) and lowered[end] in _BEFORE_DISEASES:
            end += 1
        behind = self._long_match(forms, lowered, end) if end < len(forms) else None
        for position in range(end - 1, first - 1, -1):
            following = position + 1
            if not behind and following < len(forms):
                named = self._look_up(forms[following])
                behind = (following + 1, named) if named else None
            own = self._long_match(forms, lowered, position)
            if not own and behind and behind[1][0] == "DISEASE":
                own = behind
            behind = chains[position] = own

    def _long_match(self, forms: list[str], lowered: list[str], position: int) -> Match | None:
        """Match two tokens and more that are listed."""
        following = position + 1
        if following == len(forms):
            return None
        pair = f"{lowered[position]} {lowered[following]}"
        most = self._longest.get(pair) or (pair[-1] == "s" and self._longest.get(pair[:-1]))
        if most:
            for end in range(min(position + most, len(forms)), following, -1):
                if named := self._look_up(" ".join(forms[position:end])):
                    return end, named
        return None

    def _look_up(self, key: str) -> Named | None:
        """Look a key up as it is written, then in lower case, then without a plural's s."""
        entries = self._entries
        named = entries.get(key)
        if named is None:
            lowered = key.lower()
            named = entries.get(lowered)
            long = len(lowered) - lowered.rfind(" ") > 4  # no plural of "type I" in "type is"
            if named is None and long and lowered[-1] == "s":
                named = entries.get(key[:-1]) or entries.get(lowered[:-1])
        return named
