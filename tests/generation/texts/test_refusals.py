import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generation.texts.refusals import cleaned, is_refusal

TEXT = "Concizumab binds TFPI and restores thrombin generation."


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I do not have access to PubMed.",
        "I cannot provide medical advice.",
        "<think>They ask for advice.</think>\n\nI cannot provide medical advice.",
        "I can’t help with that.",
        "I'm sorry, but I can't assist with this request.",
        "I’m very sorry, that is not possible.",
        "Unfortunately, I am unable to answer.",
        "Sorry, I won't write this.",
        "I do not have enough information about PATCH-Trauma.",
        "My apologies, this is beyond what I know.",
        "As of my last knowledge update in 2023, the trial was running.",
        "This request violates the policy.",
    ],
)
def test_refusals(text):
    assert is_refusal(cleaned(text).text)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "As an AI-based approach, deep learning detects polyps.",
        "I kappa B kinase cannot be inhibited by aspirin.",
        "IgA can not be measured in serum.",
        "As a language-independent method, it was validated in five countries.",
        "However, iron deficiency cannot be excluded.",
        "Unfortunately, in most patients the tumour recurs.",
        "Apologies are rarely studied in medicine.",
    ],
)
def test_science_is_no_refusal(text):
    assert not is_refusal(text)
    assert cleaned(text).text == text


@pytest.mark.parametrize(
    ("wrapped", "cut"),
    [
        (f"Sure! Here is a passage that answers the question:\n\n{TEXT}", ("opening", "opening")),
        (f"Certainly, {{here you go}}: {TEXT}".replace("{", "").replace("}", ""), ("opening",)),
        (f"Here’s an abstract for a hypothetical article:\n{TEXT}", ("opening",)),
        (f"Below is the abstract\n\n{TEXT}", ("opening",)),
        (f"The article that answers the question is: {TEXT}", ("opening",)),
        (f"An abstract for this question could read as follows:\n{TEXT}", ("opening",)),
        (f'"{TEXT}"', ("quotes",)),
        (f"```text\n{TEXT}\n```", ("fence",)),
        (f"# Abstract\n\n{TEXT}", ("heading", "label")),
        (f"Title: {TEXT}", ("label",)),
        (f"**Abstract:** {TEXT}", ("label",)),
        (f"**Abstract**\n{TEXT}", ("label",)),
        (f"---\n{TEXT}\n---", ("heading", "closing")),
        (f"<think>What is it?\n\nWell.</think>\n{TEXT}", ("thinking",)),
        (f"What is it? I cannot say.\n</think>\n\n{TEXT}", ("thinking",)),
        (f"<thinking>\n</thinking>Sure! {TEXT}", ("thinking", "opening")),
        (f"{TEXT}\n\nNote: this abstract is fictional.", ("closing",)),
        (f"{TEXT} I hope this helps! Let me know if you need more.", ("closing",)),
        (TEXT.replace("TFPI", "**TFPI**"), ("emphasis",)),
        (f"  {TEXT}\n", ()),
    ],
)
def test_wrappings_are_cut_and_named(wrapped, cut):
    result = cleaned(wrapped)
    assert (result.text, result.cut) == (TEXT, cut)


@pytest.mark.parametrize(
    "text",
    [
        "Here we report a case of dengue: a man of 40.",
        "BACKGROUND: Dengue is common.",
        "HLA-B*57:01 and CYP2C19**2 were typed in 2**3 ways.",
        "Patients consult a physician. Note that hypothetical models are used.",
        "Answers were scored.",
        "The question is whether TFPI: a protein: is inhibited.",
        "The answer, an antibody, is given weekly: it binds TFPI.",
        "Okazaki fragments are joined by ligase.",
        "Sure enough evidence exists.",
    ],
)
def test_content_is_not_cut(text):
    assert cleaned(text) == cleaned(f" {text} ")
    assert cleaned(text).text == text
    assert cleaned(text).cut == ()


def test_an_unfinished_thought_leaves_nothing():
    assert cleaned("<think>The question asks").text == ""


@given(st.text())
def test_cleaning_again_changes_nothing_but_emphasis(text):
    once = cleaned(text).text
    assert set(cleaned(once).cut) <= {"label", "heading", "emphasis"}
    assert len(once) <= len(text)


@pytest.mark.parametrize("name", ["12B1.expert", "12B1.abstract", "11B2.expert", "11B2.abstract"])
def test_real_pseudo_documents_pass_unchanged(mini, name):
    with gzip.open(mini / "llm" / f"{name}.jsonl.gz") as file:
        texts = [json.loads(line)["pseudo_document"] for line in file]
    assert len(texts) >= 74
    assert [cleaned(text).text for text in texts] == texts
    assert not any(map(is_refusal, texts))
