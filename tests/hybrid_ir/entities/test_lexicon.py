"""The lexicon tagger: what it finds with a lexicon made by hand, and with the one it comes with."""

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.entities.lexicon import LexiconTagger, load_lexicon
from hybrid_ir.entities.lexicon_file import Concept
from hybrid_ir.records import Entity

CONCEPTS = (
    Concept("DISEASE", "D1", ("failure", "heart failure", "acute heart failure")),
    Concept("DISEASE", "D2", ("hepatitis", "hepatitis b")),
    Concept("MESH", "D3", ("hepatitis b virus",)),
    Concept("CHEMICAL", "D4", ("l dopa", "levodopa", "Ca")),
    Concept("GENE", None, ("CAT", "tp53", "SET")),
    Concept("DISEASE", "D5", ("dyskinesia", "parkinson disease", "anemia", "tumor")),
    Concept("MESH", "D6", ("seizures",)),
)


@pytest.fixture(scope="module")
def tagger():
    return LexiconTagger(CONCEPTS, "by hand")


def found(tagger, text):
    (entities,) = tagger.tag([text])
    return [(entity.text, entity.label, entity.mesh_id) for entity in entities]


def test_an_entity_says_what_stands_where(tagger):
    text = "A heart failure."
    assert list(tagger.tag([text])) == [(Entity("heart failure", "DISEASE", 2, 15, "D1"),)]
    assert text[2:15] == "heart failure"


def test_each_text_has_its_own_entities_and_the_order_stays(tagger):
    texts = iter(["levodopa", "", "nothing", "anemia"])
    assert [len(entities) for entities in tagger.tag(texts)] == [1, 0, 0, 1]


def test_the_longest_match_from_the_left_wins(tagger):
    assert found(tagger, "acute heart failure") == [("acute heart failure", "DISEASE", "D1")]
    assert found(tagger, "acute failure") == [("failure", "DISEASE", "D1")]
    assert found(tagger, "hepatitis B virus") == [("hepatitis B virus", "MESH", "D3")]
    assert found(tagger, "hepatitis B viral") == [("hepatitis B", "DISEASE", "D2")]
    assert found(tagger, "hepatitis") == [("hepatitis", "DISEASE", "D2")]


def test_a_match_does_not_cross_a_full_stop_or_a_comma(tagger):
    assert found(tagger, "of the heart. Failure") == [("Failure", "DISEASE", "D1")]
    assert found(tagger, "heart, failure") == [("failure", "DISEASE", "D1")]


def test_a_name_is_no_part_of_a_longer_word(tagger):
    assert found(tagger, "levodopaergic antihepatitis failures1") == []


def test_lower_case_names_are_found_in_any_case_and_others_as_written(tagger):
    assert found(tagger, "LEVODOPA Levodopa") == [
        ("LEVODOPA", "CHEMICAL", "D4"),
        ("Levodopa", "CHEMICAL", "D4"),
    ]
    assert found(tagger, "p53 TP53 Tp53") == [("TP53", "GENE", None), ("Tp53", "GENE", None)]
    assert found(tagger, "the cat of CAT") == [("CAT", "GENE", None)]
    assert found(tagger, "was set, ca. 5 mg") == []
    assert found(tagger, "Ca(2+)") == [("Ca", "CHEMICAL", "D4")]


def test_plurals_dashes_possessives_and_spellings(tagger):
    assert found(tagger, "levodopas") == [("levodopas", "CHEMICAL", "D4")]
    assert found(tagger, "L-dopa, l dopa and L‑dopa") == [
        ("L-dopa", "CHEMICAL", "D4"),
        ("l dopa", "CHEMICAL", "D4"),
        ("L‑dopa", "CHEMICAL", "D4"),
    ]
    for name in ("Parkinson's disease", "Parkinson’s disease", "Parkinson disease"):
        assert found(tagger, f"in {name} and") == [(name, "DISEASE", "D5")]
    assert found(tagger, "anaemia; tumours") == [
        ("anaemia", "DISEASE", "D5"),
        ("tumours", "DISEASE", "D5"),
    ]


def test_a_place_before_a_disease_belongs_to_it(tagger):
    assert found(tagger, "cholestatic hepatitis B") == [
        ("cholestatic hepatitis B", "DISEASE", "D2")
    ]
    assert found(tagger, "gastric levodopa") == [("levodopa", "CHEMICAL", "D4")]
    assert found(tagger, "fatal failure") == [("failure", "DISEASE", "D1")]


def test_a_chain_of_places_belongs_to_the_disease_at_its_end(tagger):
    text = "cardiac hepatic failure"
    assert found(tagger, text) == [(text, "DISEASE", "D1")]
    assert found(tagger, "cardiac hepatic levodopa cardiac") == [("levodopa", "CHEMICAL", "D4")]


@pytest.mark.parametrize(
    ("text", "diseases"),
    [
        ("Cardiac failure is " + "cardiac " * 1000, 1),
        ("cardiac " * 20_000 + "failure", 1),
        (("cardiac " * 900 + ". ") * 20, 0),
    ],
    ids=["one chain", "a disease at its end", "many chains"],
)
def test_long_chains_of_places_are_walked_once(tagger, text, diseases):
    start = time.process_time()
    assert len(found(tagger, text)) == diseases
    assert time.process_time() - start < 2  # each place from each place would be 10 ** 8 steps


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the Bow Hunter's syndrome", "Bow Hunter's syndrome"),
        ("in Mowat-Wilson syndrome.", "Mowat-Wilson syndrome"),
        ("Mowat-Wilson syndrome is", "Mowat-Wilson syndrome"),
        ("It ends. Mowat-Wilson syndrome is", "Mowat-Wilson syndrome"),
        ("with Hepatitis Blount disease", "Hepatitis Blount disease"),
    ],
)
def test_a_name_before_syndrome_or_disease_makes_one(tagger, text, name):
    assert found(tagger, text) == [(name, "DISEASE", None)]


@pytest.mark.parametrize(
    "text",
    [
        "Rare disease",
        "Well. This syndrome",
        "In such a disease",
        "as With disease",
        "the DNA disease",
    ],
)
def test_other_words_before_syndrome_or_disease_make_none(tagger, text):
    assert found(tagger, text) == []


def test_the_lexicon_knows_better_than_the_rule_of_names(tagger):
    assert found(tagger, "in Parkinson's disease") == [("Parkinson's disease", "DISEASE", "D5")]


@pytest.mark.parametrize("code", ["CB 3717", "LY274614", "SM-5887", "MK-801"])
def test_letters_with_a_number_are_a_chemical(tagger, code):
    assert found(tagger, f"with {code}, which") == [(code, "CHEMICAL", None)]


@pytest.mark.parametrize(
    "text",
    [
        *("PMC1234567", "PMID 123456", "GSE12345", "SRR1234567", "OMIM 123456", "MIM 158900"),
        *("NCT01234567", "ISRCTN 123456", "EORTC 22881", "DOI 101", "ATCC 25922", "HEK293"),
        *("TABLE 123", "FIG 123", "ISO 9001", "CPT 99213", "WHO 123", "BMI 300", "DSM 500"),
        *("ICD 100", "CYP450", "LINC00339", "THE 300"),
    ],
)
def test_databases_trials_parts_measures_and_bodies_are_no_chemicals(tagger, text):
    assert found(tagger, f"see {text}.") == []


@pytest.mark.parametrize("text", ["WHO 2016", "in 3717", "CB 37", "cb 3717", "CB. 3717", "MG 250"])
def test_years_and_doses_are_no_chemicals(tagger, text):
    assert found(tagger, text) == []


def test_the_lexicon_knows_better_than_the_rule_of_letters_with_a_number():
    tagger = LexiconTagger([Concept("GENE", None, ("cd138",))], "")
    assert found(tagger, "CD138") == [("CD138", "GENE", None)]
    assert tagger.labels == {"GENE", "CHEMICAL", "DISEASE"}


def test_short_forms_mean_what_their_long_forms_mean(tagger):
    text = "LID: levodopa-induced dyskinesia (LID) came first. LIDs, LID and lid."
    short = ("LID", "DISEASE", "D5")
    assert found(tagger, text) == [
        short,
        ("levodopa", "CHEMICAL", "D4"),
        ("dyskinesia", "DISEASE", "D5"),
        short,
        ("LIDs", "DISEASE", "D5"),
        short,
    ]
    assert found(tagger, "HF (heart failure), HF")[::2] == [
        ("HF", "DISEASE", "D1"),
        ("HF", "DISEASE", "D1"),
    ]


def test_a_short_form_of_something_else_is_no_entity(tagger):
    assert found(tagger, "CAT") == [("CAT", "GENE", None)]
    assert found(tagger, "computed axial tomography (CAT); CAT") == []


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("acute heart failure (AHF)", ("AHF", "DISEASE", "D1")),
        ("the chronic heart failure (CHF)", ("CHF", "DISEASE", "D1")),
        ("methyl levodopa (ML)", ("ML", "CHEMICAL", None)),
        ("aspirin, digoxin and levodopa (ADL)", ("ADL", "CHEMICAL", None)),
        ("pump heart failure (PHF)", ("PHF", "DISEASE", None)),
    ],
)
def test_a_short_form_has_the_id_of_an_entity_that_is_its_whole_long_form(tagger, text, short):
    assert found(tagger, text)[-1] == short


@pytest.mark.parametrize("text", ["cost of failure (COF)", "partial seizures (PS)"])
def test_a_short_form_of_more_than_an_entity_may_be_none(tagger, text):
    assert len(found(tagger, f"{text}, COF, PS")) == 1


def test_each_meaning_of_a_short_form_holds_from_its_own_introduction():
    tagger = LexiconTagger(
        [Concept("DISEASE", "D1", ("heart failure",)), Concept("CHEMICAL", "D2", ("hexyl fat",))],
        "",
    )
    text = "HF. Heart failure (HF), HF. Hexyl fat (HF), HF. High fever (HF), HF."
    assert [one[1] for one in found(tagger, text) if one[0] == "HF"] == [
        *("DISEASE", "DISEASE", "DISEASE"),
        *("CHEMICAL", "CHEMICAL"),
    ]


def test_a_symbol_stays_a_gene_where_its_unlisted_long_form_says_so(tagger):
    assert found(tagger, "tumor protein 53 (TP53), TP53")[-1] == ("TP53", "GENE", None)
    assert found(tagger, "catalase protein (CAT), CAT")[-1] == ("CAT", "GENE", None)


def test_the_plural_of_a_short_form_introduces_the_singular(tagger):
    assert found(tagger, "heart failures (HFs), HF")[1:] == [
        ("HFs", "DISEASE", "D1"),
        ("HF", "DISEASE", "D1"),
    ]


def test_short_forms_are_forgotten_with_their_text(tagger):
    first, second = tagger.tag(["heart failure (HF), HF", "HF"])
    assert [entity.text for entity in first] == ["heart failure", "HF", "HF"]
    assert second == ()


@given(st.lists(st.text(), max_size=3))
def test_offsets_are_exact_in_any_text(texts):
    check_offsets(load_lexicon(), texts)


PIECES = ("L", "dopa", "levodopa", "-induced ", "dyskinesia", " (LID)", "LID", "CAT", "CB", "3717")
SIGNS = (
    "-",
    "‐",
    " ",
    "'s",
    "’s",
    "s",
    "(",
    ")",
    ", ",
    "\u3000",
    "ß",
    "İ",
    "α",
    "o\u0308",
    "ﬁ",
    "𝛼",
)
WORDS = st.sampled_from(PIECES + SIGNS)


@given(st.lists(WORDS, max_size=12).map("".join))
def test_offsets_are_exact_in_texts_full_of_names(text):
    check_offsets(LexiconTagger(CONCEPTS, ""), [text])


def check_offsets(tagger, texts):
    for text, entities in zip(texts, tagger.tag(texts), strict=True):
        end = 0
        for entity in entities:
            assert text[entity.start : entity.end] == entity.text != ""
            assert entity.start >= end
            assert entity.label in tagger.labels
            end = entity.end


GROWTH = "human epidermal growth factor receptor 2"
REAL = [
    ("Is Parkinson's disease linked to LRRK2?", "Parkinson's disease", "DISEASE", "D010300"),
    ("Is Parkinson's disease linked to LRRK2?", "LRRK2", "GENE", None),
    ("lactic acidosis under metformin", "metformin", "CHEMICAL", "D008687"),
    ("lactic acidosis under metformin", "lactic acidosis", "DISEASE", "D000140"),
    ("chronic myeloid leukaemia", "chronic myeloid leukaemia", "DISEASE", "D015464"),
    ("patients with Sjögren syndrome", "Sjögren syndrome", "DISEASE", "D012859"),
    ("type 2 diabetes mellitus", "type 2 diabetes mellitus", "DISEASE", "D003924"),
    ("diabetes mellitus type 2", "diabetes mellitus type 2", "DISEASE", "D003924"),
    ("Duchenne muscular dystrophy", "Duchenne muscular dystrophy", "DISEASE", "D020388"),
    ("Is dasatinib active in glioblastoma?", "dasatinib", "CHEMICAL", "D000069439"),
    ("Is dasatinib active in glioblastoma?", "glioblastoma", "DISEASE", "D005909"),
    ("RDS is respiratory distress syndrome (RDS)", "RDS", "DISEASE", "D012128"),
    ("Akt and p53 act", "Akt", "GENE", None),
    ("Akt and p53 act", "p53", "GENE", None),
    ("SARS-CoV-2 spreads", "SARS-CoV-2", "MESH", "D000086402"),
    ("the schizophrenia of patients", "schizophrenia", "DISEASE", "D012559"),
    ("AIDS kills", "AIDS", "DISEASE", "D000163"),
    ("the Food and Drug Administration", "Food and Drug Administration", "MESH", "D014486"),
    ("in Escherichia coli and", "Escherichia coli", "MESH", "D004926"),
    ("yeast", "yeast", "MESH", "D015002"),
    ("Fusarium oxysporum", "Fusarium oxysporum", "MESH", None),
    ("human epidermal growth factor receptor 2 in", GROWTH, "GENE", None),
    ("progranulin", "progranulin", "GENE", None),
    ("acid alpha-glucosidase", "acid alpha-glucosidase", "GENE", None),
    ("IFNγ", "IFNγ", "GENE", None),
    ("factor VIII", "factor VIII", "GENE", "D005169"),
    ("olive oil", "olive oil", "CHEMICAL", "D000069463"),
    ("povidone", "povidone", "CHEMICAL", "D011205"),
    ("ALS and COPD", "ALS", "DISEASE", "D000690"),
    ("ALS and COPD", "COPD", "DISEASE", "D029424"),
    ("AML", "AML", "DISEASE", "D015470"),
    ("GTP", "GTP", "CHEMICAL", "D006160"),
    ("Lupus Erythematosus", "Lupus Erythematosus", "DISEASE", "D008180"),
    ("Cat eye syndrome", "Cat eye syndrome", "DISEASE", None),
    ("What is Bow Hunter's syndrome?", "Bow Hunter's syndrome", "DISEASE", None),
    ("haemoglobin", "haemoglobin", "GENE", "D006454"),
    ("APRIL", "APRIL", "GENE", None),
]


@pytest.mark.parametrize(("text", "name", "label", "mesh_id"), REAL)
def test_the_lexicon_of_the_package_knows_real_names(text, name, label, mesh_id):
    assert (name, label, mesh_id) in found(load_lexicon(), text)


@pytest.mark.parametrize(
    "text",
    [
        "What was the impact of the cat scan, and can all be set to rest?",
        "WHAT WAS THE IMPACT OF ALL THIS",
        "We hope that it is a great step for men of all kinds.",
        "This leads to a lead that aids the aged in the other arm of Fig. 1 in April.",
        "MRI, ICD-10, CSF, PCI, UTR, ROS, EMA, TAM, TAMs, Gal, Cal and NTI",
    ],
)
def test_everyday_words_are_no_entities(text):
    assert found(load_lexicon(), text) == []


def test_the_lexicon_is_loaded_once_and_has_a_name_of_its_own():
    assert load_lexicon() is load_lexicon()
    assert "sha256" in load_lexicon().identity
    assert load_lexicon().labels == {"DISEASE", "CHEMICAL", "GENE", "MESH"}


@pytest.mark.shared
def test_real_abstracts_are_tagged_well(shared):
    """Strict F1 on the first 1,000 sentences of BC5CDR's development part was 0.85."""
    path = shared / "data" / "ner" / "mtl2016" / "BC5CDR-IOB" / "devel.tsv.gz"
    sentences = gzip.decompress(path.read_bytes()).decode().strip().split("\n\n")[:1000]
    right = given = wanted = 0
    for start in range(0, len(sentences), 10):  # about an abstract
        gold, text = set(), ""
        for line in "\n".join(sentences[start : start + 10]).split("\n"):
            token, tag = line.split("\t")
            glued = token in {"-", ",", ".", ")", "'", "/"} or text[-1:] in {"-", "(", "'", "/"}
            text += "" if glued else " "
            if tag[0] == "B":
                gold.add((len(text), len(text) + len(token), tag[2:].upper()))
            elif tag[0] == "I":
                last = max(gold)
                gold.remove(last)
                gold.add((last[0], len(text) + len(token), last[2]))
            text += token
        (entities,) = load_lexicon().tag([text])
        ours = {(e.start, e.end, e.label) for e in entities if e.label in ("DISEASE", "CHEMICAL")}
        right, given, wanted = right + len(ours & gold), given + len(ours), wanted + len(gold)
    assert wanted > 2000
    assert 2 * right / (given + wanted) > 0.8
