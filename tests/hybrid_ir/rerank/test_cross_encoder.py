import json
import random
import shutil
from itertools import count

import numpy as np
import pytest
import torch

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.rerank.cross_encoder import open_cross_encoder
from hybrid_ir.rerank.settings import ScorerConfig, WindowConfig

QUERY = "what is known about the gene"  # 6 tokens, 3 more for the ends
WORDS = ["gene", "heart", "lung", "brain", "virus", "trial", "dose", "cell", "old", "new"]
TEXTS = ("heart gene", "", "the old trial of the new virus in brain and lung", "kidney " * 400)


def settings(folder, **changes):
    plain = {"precision": "float32", "device": "cpu", "tokens_at_once": 300}
    return ScorerConfig(model=str(folder), **(plain | changes))


def asked(texts=TEXTS, query=QUERY, question_id="q1"):
    return Candidates(question_id, query, tuple(map(str, range(len(texts)))), tuple(texts))


def some_text(chance, most):
    words = [*WORDS, "mitochondriopathy", "ω3-acid"]
    return " ".join(chance.choice(words) for _ in range(chance.randint(0, most)))


@pytest.fixture(scope="module")
def predicted(cross_encoder):
    """What sentence-transformers gives, one pair at a time."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(cross_encoder), device="cpu")

    def predict(query, texts, max_length=128):
        model.max_seq_length = max_length
        pairs = [(query, text) for text in texts]
        same = torch.nn.Identity()
        return model.predict(pairs, batch_size=1, activation_fn=same, show_progress_bar=False)

    return predict


def test_scores_are_those_of_sentence_transformers(cross_encoder, predicted):
    (scores,) = open_cross_encoder(settings(cross_encoder))([asked()])
    assert scores.dtype == np.float64
    assert scores == pytest.approx(predicted(QUERY, TEXTS), abs=1e-5)
    assert np.ptp(scores) > 0.1


@pytest.mark.parametrize("budget", [16, 333, 0])
def test_many_questions_of_odd_lengths_are_scored_in_order(cross_encoder, predicted, budget):
    chance = random.Random(budget)
    questions = [
        asked([some_text(chance, 60) for _ in range(chance.randint(0, 9))], some_text(chance, 9))
        for _ in range(12)
    ]
    scorer = open_cross_encoder(settings(cross_encoder, tokens_at_once=budget, max_length=40))
    found = list(scorer(iter(questions)))
    assert len(found) == 12
    for question, scores in zip(questions, found, strict=True):
        expected = predicted(question.query, question.texts, 40) if question.texts else []
        assert scores == pytest.approx(expected, abs=1e-5)


def test_a_score_does_not_depend_on_what_else_is_scored(cross_encoder):
    scorer = open_cross_encoder(settings(cross_encoder))
    together = list(scorer([asked(TEXTS), asked(TEXTS[::-1], "what is a virus"), asked(("cell",))]))
    (alone,) = scorer([asked(TEXTS[:1])])
    assert together[0][:1] == pytest.approx(alone, abs=1e-5)


def test_equal_passages_of_a_question_get_the_same_score(cross_encoder):
    scorer = open_cross_encoder(settings(cross_encoder))
    ((a, b, c, d),) = scorer([asked(("gene", "old virus", "gene", "gene"))])
    assert a == c == d != b


def test_no_questions_and_no_documents(cross_encoder):
    scorer = open_cross_encoder(settings(cross_encoder))
    assert list(scorer([])) == []
    (scores,) = scorer([asked(())])
    assert scores.shape == (0,)


def test_questions_are_pulled_as_they_are_needed(cross_encoder):
    pulled = []

    def endless():
        for number in count():
            pulled.append(number)
            texts = [f"{WORDS[place % 8]} {'cell ' * 140}{place}" for place in range(128)]
            yield asked(texts, question_id=str(number))

    scores = open_cross_encoder(settings(cross_encoder, tokens_at_once=0))(endless())
    assert len(next(scores)) == 128
    # 128 passages of 128 tokens are 2**14, 8 questions the 2**17 tokens that wait at most; two more
    # are begun while the batches of the first are taken, and two are being tokenized
    assert len(pulled) <= 8 + 2 + 2
    next(scores)
    assert len(pulled) <= 9 + 2 + 2
    scores.close()


def test_two_runs_may_use_a_scorer_at_once(cross_encoder):
    windows = WindowConfig(tokens=32)
    scorer = open_cross_encoder(settings(cross_encoder, windows=windows))
    questions = [asked((*TEXTS, str(number))) for number in range(6)]
    both = list(zip(scorer(questions), scorer(questions[::-1]), strict=True))
    for (one, _), (_, other) in zip(both, both[::-1], strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_what_was_cut_is_said_once(cross_encoder, caplog):
    list(open_cross_encoder(settings(cross_encoder))([asked(), asked(TEXTS[:2]), asked(TEXTS[3:])]))
    (record,) = caplog.records
    # 4 + 2 + 1 passages, of which that with 400 words is cut twice
    assert record.getMessage() == (
        "the end of 2 of 7 documents was cut: 128 tokens are taken at once (max_length, windows)"
    )


@pytest.mark.parametrize(("how", "join"), [("max", np.max), ("mean", np.mean)])
def test_windows_are_scored_with_the_whole_question(cross_encoder, predicted, how, join, caplog):
    words = [WORDS[place * place % 10] for place in range(70)]  # each of one token
    windows = WindowConfig(tokens=30, stride=20, score=how)
    scorer = open_cross_encoder(settings(cross_encoder, max_length=48, windows=windows))
    (scores,) = scorer([asked(("gene", " ".join(words), " ".join(words[:39])))])
    # 48 - 9 tokens of the question and the ends: 39 fit, 70 are cut into 0-30, 20-50 and 40-70
    parts = [" ".join(words[start : start + 30]) for start in (0, 20, 40)]
    expected = [*predicted(QUERY, ["gene"]), join(predicted(QUERY, parts))]
    expected += [*predicted(QUERY, [" ".join(words[:39])])]
    assert scores == pytest.approx(expected, abs=1e-5)
    assert not caplog.records


def test_a_window_is_what_a_question_leaves_where_no_size_is_given(cross_encoder, predicted):
    words = [WORDS[place * place % 10] for place in range(60)]
    scorer = open_cross_encoder(settings(cross_encoder, max_length=49, windows=WindowConfig()))
    (scores,) = scorer([asked((" ".join(words),))])
    # 49 - 9 = 40 tokens, half of them the stride
    parts = [" ".join(words[:40]), " ".join(words[20:])]
    assert scores == pytest.approx([max(predicted(QUERY, parts))], abs=1e-5)


def test_a_question_that_leaves_no_room_for_windows_is_cut_with_the_passage(
    cross_encoder, predicted, caplog
):
    query = "gene " * 60
    scorer = open_cross_encoder(settings(cross_encoder, max_length=64, windows=WindowConfig()))
    (scores,) = scorer([asked(("heart " * 100, ""), query)])
    assert scores == pytest.approx(predicted(query, ("heart " * 100, ""), 64), abs=1e-5)
    assert "the end of 1 of 2 documents was cut" in caplog.text


def test_a_document_of_100_000_characters(cross_encoder, predicted, caplog):
    words = [WORDS[place * place % 10] for place in range(20_000)]
    text = " ".join(words)
    assert len(text) > 80_000
    text += " cell" * ((100_000 - len(text)) // 5 + 1)
    (cut,) = open_cross_encoder(settings(cross_encoder))([asked((text,))])
    assert cut == pytest.approx(predicted(QUERY, [text]), abs=1e-5)
    windows = WindowConfig(tokens=100, stride=100, most=5)
    (best,) = open_cross_encoder(settings(cross_encoder, windows=windows))([asked((text,))])
    parts = [" ".join(words[start : start + 100]) for start in range(0, 500, 100)]
    assert best == pytest.approx([max(predicted(QUERY, parts))], abs=1e-5)
    assert "the end of 1 of 1 document is in none of their windows" in caplog.text


def test_bfloat16_is_close_to_float32(cross_encoder):
    (exact,) = open_cross_encoder(settings(cross_encoder))([asked()])
    (rough,) = open_cross_encoder(settings(cross_encoder, precision="bf16"))([asked()])
    assert rough.dtype == np.float64
    assert rough == pytest.approx(exact, abs=0.02 * np.abs(exact).max() + 0.05)
    assert not np.array_equal(rough, exact)


@pytest.fixture
def copy(cross_encoder, tmp_path):
    """A copy of the model, to be broken."""
    return shutil.copytree(cross_encoder, tmp_path / "model")


def change(folder, name, **values):
    known = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(known | values))


def test_scores_that_are_no_numbers_are_handed_on(copy):
    from safetensors.torch import load_file, save_file

    weights = load_file(copy / "model.safetensors")
    weights["classifier.bias"][:] = torch.nan
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    (scores,) = open_cross_encoder(settings(copy))([asked()])
    assert np.isnan(scores).all()


def refusal(folder, **changes):
    with pytest.raises(InputError) as caught:
        open_cross_encoder(settings(folder, **changes))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_folder_that_is_not_there(tmp_path):
    assert f"{tmp_path / 'nothing'} is no folder" in refusal(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("config.json", "no config.json"),
        ("tokenizer.json", "no tokenizer"),
        ("model.safetensors", "no weights"),
    ],
)
def test_a_folder_that_lacks_a_file(copy, name, what):
    (copy / name).unlink()
    assert what in refusal(copy)


def test_pickled_weights_are_not_read(copy):
    (copy / "model.safetensors").rename(copy / "pytorch_model.bin")
    assert "pytorch_model.bin" in refusal(copy)


def test_a_broken_file_of_weights(copy):
    (copy / "model.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{}")
    assert "cross-encoder" in refusal(copy)


def test_a_head_of_two_scores(copy):
    change(copy, "config.json", id2label={"0": "NO", "1": "YES"}, label2id={"NO": 0, "YES": 1})
    assert "its head gives 2 numbers, not one" in refusal(copy)


def test_an_encoder_without_a_head(backbone):
    assert "has no head that scores pairs" in refusal(backbone)


def test_a_head_that_would_be_random(copy, backbone):
    shutil.copy(backbone / "model.safetensors", copy / "model.safetensors")
    message = refusal(copy)
    assert "its weights lack" in message
    assert "classifier.bias" in message


def test_a_model_that_writes_text(copy):
    change(copy, "config.json", architectures=["Qwen2ForCausalLM"])
    assert "a Qwen2ForCausalLM has no head that scores pairs" in refusal(copy)


def test_a_tokenizer_of_another_model(copy):
    change(copy, "tokenizer_config.json", additional_special_tokens=["[NEW]"])
    assert "it is another model's" in refusal(copy)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hidden_size", "x"),
        ("hidden_size", 0),
        ("num_attention_heads", 0),
        ("architectures", [1]),
        ("id2label", [1]),
        ("pad_token_id", 999_999_999),
        ("dtype", "foo"),
    ],
)
def test_damaged_settings_are_one_clear_line(copy, name, value):
    change(copy, "config.json", **{name: value})
    message = refusal(copy)
    assert "a cross-encoder with a head of one score" in message
    assert "a file of which is damaged" in message


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json"])
def test_a_list_where_settings_are_expected(copy, name):
    (copy / name).write_text("[]")
    assert "a file of which is damaged" in refusal(copy)


@pytest.mark.parametrize("tokens", [0, 15, "many"])
def test_a_length_that_leaves_no_room_is_not_taken_from_the_tokenizer(copy, tokens):
    change(copy, "tokenizer_config.json", model_max_length=tokens)
    assert f"it says that it takes {tokens!r} tokens: expected 16 or more" in refusal(copy)


def test_more_tokens_than_the_model_has_places_for(cross_encoder):
    expected = f"max_length: expected at most the 512 tokens that {cross_encoder} takes, got 513"
    assert refusal(cross_encoder, max_length=513) == expected


@pytest.fixture
def roberta(tmp_path, backbone):
    """A tiny RoBERTa of chance, of whose 66 places 64 are for tokens."""
    from transformers import AutoTokenizer, RobertaConfig, RobertaForSequenceClassification

    torch.manual_seed(0)
    config = RobertaConfig(vocab_size=30522, hidden_size=16, num_hidden_layers=1, num_labels=1,
        num_attention_heads=2, intermediate_size=16, type_vocab_size=2, pad_token_id=1,
        max_position_embeddings=66)  # fmt: skip
    RobertaForSequenceClassification(config).save_pretrained(tmp_path / "roberta")
    AutoTokenizer.from_pretrained(backbone).save_pretrained(tmp_path / "roberta")
    return tmp_path / "roberta"


def test_a_roberta_takes_two_tokens_less_than_it_says(roberta, caplog):
    assert "at most the 64 tokens" in refusal(roberta, max_length=65)
    (scores,) = open_cross_encoder(settings(roberta))([asked()])
    assert np.isfinite(scores).all()
    assert "64 tokens are taken at once" in caplog.text


def test_the_length_is_what_the_model_was_trained_with(copy, caplog):
    change(copy, "tokenizer_config.json", model_max_length=32)
    list(open_cross_encoder(settings(copy))([asked()]))
    assert "32 tokens are taken at once" in caplog.text
