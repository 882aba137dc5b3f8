import pickle

import pytest

from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from hybrid_ir.pubmed.citation import AbstractPart, Citation, Relation
from hybrid_ir.pubmed.selection import MIBI_TYPES, SelectionConfig

TEXT = (AbstractPart("Hearts fail."),)


def citation(**fields):
    return Citation("1", **{"abstract": TEXT, **fields})


def test_an_abstract_is_asked_for_unless_told():
    assert SelectionConfig().reason(citation()) is None
    assert SelectionConfig().reason(citation(abstract=())) == "no abstract"
    assert SelectionConfig().reason(citation(abstract=(AbstractPart(" ", "AIM"),))) == "no abstract"
    assert SelectionConfig(abstract=False).reason(citation(abstract=())) is None


@pytest.mark.parametrize("name", ["letter", "Letters", "mibi", "MIBI"])
def test_types_are_excluded_in_any_case_and_number_and_by_preset(name):
    letter = citation(publication_types=("Journal Article", "Letter"))
    config = SelectionConfig(exclude_types=("Portrait", name))
    assert config.reason(letter) == "publication type Letter"
    assert config.reason(citation(publication_types=("Journal Article",))) is None


def test_the_preset_has_the_papers_number_and_knows_older_spellings():
    assert len(set(MIBI_TYPES)) == 27
    config = SelectionConfig(exclude_types=("mibi",))
    for old in ("Addresses", "Congresses", "Webcasts", "Legal Cases"):
        assert config.reason(citation(publication_types=(old,))) == f"publication type {old}"


def test_one_of_several_languages_suffices():
    config = SelectionConfig(languages=("eng", "fre"))
    assert config.reason(citation(languages=("ger", "eng"))) is None
    assert config.reason(citation(languages=("ger",))) == "language other than eng, fre"
    assert config.reason(citation()) == "language other than eng, fre"


@pytest.mark.parametrize(
    ("year", "reason"),
    [
        (1999, "published before 2000"),
        (2000, None),
        (2010, None),
        (2011, "published after 2010"),
        (None, "no year"),
    ],
)
def test_the_window_of_years_holds_both_its_ends(year, reason):
    assert SelectionConfig(first_year=2000, last_year=2010).reason(citation(year=year)) == reason


def test_a_window_open_at_one_side():
    assert SelectionConfig(first_year=2000).reason(citation(year=2030)) is None
    assert SelectionConfig(last_year=2000).reason(citation(year=1800)) is None
    assert SelectionConfig(last_year=2000).reason(citation(year=None)) == "no year"
    assert SelectionConfig().reason(citation(year=None)) is None


def test_as_of_leaves_out_what_came_later_or_does_not_say():
    config = SelectionConfig(as_of="2023-01-31")
    assert config.reason(citation(entered="2023-01-31")) is None
    assert config.reason(citation(entered="2023-02-01")) == "entered into PubMed after 2023-01-31"
    assert config.reason(citation()) == "no date of entry into PubMed"


def test_retracted_by_type_or_by_notice():
    by_type = citation(publication_types=("Journal Article", "Retracted Publication"))
    by_notice = citation(relations=(Relation("RetractionIn", "2", "J"),))
    notice = citation(relations=(Relation("RetractionOf", "1", "J"),))
    config = SelectionConfig(retracted="leave_out")
    assert [config.reason(one) for one in (by_type, by_notice, notice)] == ["retracted"] * 2 + [
        None
    ]
    assert SelectionConfig().reason(by_type) is None


def test_the_first_reason_counts():
    config = SelectionConfig(exclude_types=("letter",), first_year=2000)
    letter = citation(publication_types=("Letter",), year=1990)
    assert config.reason(letter) == "publication type Letter"


def test_it_comes_from_a_command_line_and_travels_to_another_process():
    config = load_config(
        SelectionConfig, overrides=["exclude_types=[mibi]", "languages=[eng]", "as_of=2023-01-31"]
    )
    letter = citation(publication_types=("Letter",), languages=("eng",), entered="2020-01-01")
    assert pickle.loads(pickle.dumps(config)).reason(letter) == "publication type Letter"


def test_what_cannot_be_meant_is_refused_all_at_once():
    with pytest.raises(InputError) as caught:
        SelectionConfig(languages=("English",), first_year=2020, last_year=2010, as_of="2023-02-30")
    message = str(caught.value)
    assert all(part in message for part in ("languages", "2020-2010", "as_of"))
