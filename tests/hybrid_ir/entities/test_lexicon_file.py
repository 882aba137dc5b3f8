"""The file of the lexicon."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.entities import lexicon
from hybrid_ir.entities.lexicon_file import HEADER, Concept, read_lexicon, write_lexicon
from hybrid_ir.errors import InputError

CONCEPTS = [
    Concept("GENE", None, ("SET", "tp53")),
    Concept("DISEASE", "D010300", ("paralysis agitans", "parkinson disease")),
]


def test_what_is_written_is_read(tmp_path):
    write_lexicon(tmp_path / "l.tsv.gz", CONCEPTS)
    assert list(read_lexicon(tmp_path / "l.tsv.gz")) == CONCEPTS[::-1]  # sorted by label


def test_the_order_of_concepts_and_variants_does_not_change_the_bytes(tmp_path):
    write_lexicon(tmp_path / "one.tsv.gz", CONCEPTS)
    turned = [Concept(c.label, c.mesh_id, c.variants[::-1]) for c in CONCEPTS[::-1]]
    write_lexicon(tmp_path / "two.tsv.gz", turned)
    assert (tmp_path / "one.tsv.gz").read_bytes() == (tmp_path / "two.tsv.gz").read_bytes()


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("", "l.tsv.gz"),
        ("GENE\t\ttp53\n", "l.tsv.gz"),
        (f"{HEADER}\nGENE\t\ttp5", "l.tsv.gz"),
        (f"{HEADER}\nGENE\t\ttp53\nGENE tp53\n", "l.tsv.gz:3"),
        (f"{HEADER}\n\t\ttp53\n", "l.tsv.gz:2"),
        (f"{HEADER}\nGENE\t\t\n", "l.tsv.gz:2"),
    ],
)
def test_a_file_that_is_no_lexicon_is_refused(tmp_path, content, where):
    path = tmp_path / "l.tsv.gz"
    path.write_bytes(gzip.compress(content.encode()))
    with pytest.raises(InputError, match=rf"{where}: expected .*build_lexicon"):
        list(read_lexicon(path))


@given(st.data())
def test_a_damaged_file_is_refused_or_read_whole(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "l.tsv.gz"
    write_lexicon(path, CONCEPTS)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(InputError, match=r"l\.tsv\.gz"):
        list(read_lexicon(path))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a readable file"):
        list(read_lexicon(tmp_path / "l.tsv.gz"))


def test_the_file_of_the_package_is_sound():
    seen: set[str] = set()
    for concept in read_lexicon(lexicon.LEXICON):
        assert concept.label in {"DISEASE", "CHEMICAL", "GENE", "MESH"}
        assert concept.mesh_id is None or concept.mesh_id[0] == "D"
        assert not seen.intersection(concept.variants)
        seen.update(concept.variants)
    assert len(seen) > 200_000
    assert lexicon.LEXICON.stat().st_size < 2_000_000
    assert lexicon.LEXICON.with_name("ATTRIBUTION.md").is_file()
