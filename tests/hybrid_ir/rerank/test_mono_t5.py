import json
import logging
import shutil

import numpy as np
import pytest
import torch
from tiny_t5 import save_tiny_t5, tokens

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.rerank.mono_t5 import open_mono_t5
from hybrid_ir.rerank.settings import ScorerConfig, WindowConfig

QUERY = "what is known about the gene"
TEXTS = ("heart gene", "the old trial of the new virus in brain and lung", "", "kidney " * 40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_t5(tmp_path_factory.mktemp("models") / "t5")


def settings(folder, **changes):
    plain = {"precision": "float32", "device": "cpu", "tokens_at_once": 200}
    return ScorerConfig(kind="mono_t5", model=str(folder), **(plain | changes))


def asked(texts=TEXTS, query=QUERY, question_id="q1"):
    return Candidates(question_id, query, tuple(map(str, range(len(texts)))), tuple(texts))


@pytest.fixture(scope="module")
def chance_of(folder):
    """The logarithm of a prompt's chance of "true", by the model called alone, without padding."""
    from transformers import AutoTokenizer, T5ForConditionalGeneration

    model = T5ForConditionalGeneration.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    vocabulary = tokenizer.get_vocab()

    def chance(prompt):
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        with torch.no_grad():
            logits = model(input_ids=ids, decoder_input_ids=torch.tensor([[0]])).logits[0, 0]
        true, false = logits[vocabulary["▁true"]].item(), logits[vocabulary["▁false"]].item()
        return true - np.logaddexp(true, false)

    return chance


def prompt(text, query=QUERY):
    return f"Query: {query} Document: {text} Relevant:"


def test_scores_are_those_of_the_model_called_prompt_by_prompt(folder, chance_of):
    (scores,) = open_mono_t5(settings(folder))([asked()])
    assert scores.dtype == np.float64
    assert scores == pytest.approx([chance_of(prompt(text)) for text in TEXTS], abs=1e-5)
    assert np.ptp(scores) > 0.01


def test_each_question_gets_its_own_scores_in_order(folder, chance_of):
    questions = [asked(TEXTS[:n], f"{QUERY} {word}", word) for n, word in enumerate(("old", "new"))]
    questions.append(asked((*TEXTS, TEXTS[1]), "heart"))
    found = list(open_mono_t5(settings(folder))(questions))
    assert [len(scores) for scores in found] == [0, 1, 5]
    assert found[1] == pytest.approx([chance_of(prompt(TEXTS[0], f"{QUERY} new"))], abs=1e-5)
    assert found[2][1] == pytest.approx(chance_of(prompt(TEXTS[1], "heart")), abs=1e-5)
    assert found[2][1] == pytest.approx(found[2][4], abs=1e-5)


def test_a_document_is_cut_and_the_words_behind_it_stay(folder, chance_of, caplog):
    # "Query", ":", 6 words, "Document", ":" are 10 tokens, "Relevant", ":" and the end 3: 20 - 13
    (scores,) = open_mono_t5(settings(folder, max_length=20))([asked()])
    expected = [chance_of(prompt(text)) for text in (*TEXTS[:3], "kidney " * 7)]
    expected[1] = chance_of(prompt("the old trial of the new virus"))
    assert scores == pytest.approx(expected, abs=1e-5)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        "the end of 2 of 4 documents was cut: 20 tokens are taken at once (max_length, windows)"
    )


def test_a_long_question_gets_half_of_the_room(folder, chance_of, caplog):
    # without question and document 7 tokens are taken: 10 of 27 - 7 for the question
    scorer = open_mono_t5(settings(folder, max_length=27))
    (scores,) = scorer([asked(("gene " * 30,), "heart " * 30)])
    assert scores == pytest.approx([chance_of(prompt("gene " * 10, "heart " * 10))], abs=1e-5)
    assert "the end of 1 of 1 question was cut; the end of 1 of 1 document" in caplog.text


@pytest.mark.parametrize(("how", "join"), [("max", np.max), ("mean", np.mean)])
def test_windows_of_a_long_document_each_have_the_whole_prompt(folder, chance_of, how, join):
    words = ("the old trial of the new virus in brain and lung" + " heart" * 19).split()
    windows = WindowConfig(tokens=16, stride=10, score=how)
    (scores,) = open_mono_t5(settings(folder, max_length=30, windows=windows))(
        [asked(("gene", " ".join(words)))]
    )
    parts = [" ".join(words[start : start + 16]) for start in (0, 10, 20)]
    expected = [chance_of(prompt("gene")), join([chance_of(prompt(part)) for part in parts])]
    assert scores == pytest.approx(expected, abs=1e-5)


def test_what_lies_behind_the_last_window_is_counted(folder, caplog):
    windows = WindowConfig(tokens=16, stride=16, most=2)
    scorer = open_mono_t5(settings(folder, max_length=30, windows=windows))
    list(scorer([asked(("gene " * 32, "gene " * 33))]))
    assert "the end of 1 of 2 documents is in none of their windows" in caplog.text


def test_no_more_questions_are_pulled_than_fill_a_pool(folder):
    pulled = []

    def questions():
        for number in range(20):
            pulled.append(number)
            yield asked(("gene",) * 100)

    next(open_mono_t5(settings(folder))(questions()))
    assert len(pulled) == 3  # 3 x 100 are the first to reach 256


def test_scores_that_are_no_numbers_are_handed_on(folder, tmp_path):
    from safetensors.torch import load_file, save_file

    broken = shutil.copytree(folder, tmp_path / "broken")
    weights = load_file(broken / "model.safetensors")
    weights["decoder.final_layer_norm.weight"][:] = float("nan")
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    (scores,) = open_mono_t5(settings(broken))([asked()])
    assert np.isnan(scores).all()
    assert len(scores) == 4


def test_half_precision_gives_nearly_the_same_scores(folder):
    (exact,) = open_mono_t5(settings(folder))([asked()])
    (rough,) = open_mono_t5(settings(folder, precision="bf16"))([asked()])
    assert rough.dtype == np.float64
    assert rough == pytest.approx(exact, abs=0.05)
    assert rough.tolist() != exact.tolist()


def without_tokenizer(folder):
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()


def only_a_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def no_encoder_decoder(folder):
    path = folder / "config.json"
    own = json.loads(path.read_text())
    path.write_text(json.dumps(own | {"is_encoder_decoder": False}))


def half_the_weights(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if not name.startswith("decoder.")}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


def foreign_tokenizer(folder):
    path = folder / "tokenizer.json"
    own = json.loads(path.read_text())
    own["model"]["vocab"].append(["▁apixaban", -1.0])
    path.write_text(json.dumps(own))


def damaged_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, r"copy is no folder"),
        (without_tokenizer, r"no tokenizer \(tokenizer\.json"),
        (only_a_pickle, r"no weights \(\*\.safetensors\).*refs/pr"),
        (no_encoder_decoder, r"a T5ForConditionalGeneration is no encoder with a decoder"),
        (half_the_weights, r"its weights lack decoder\."),
        (foreign_tokenizer, r"its tokenizer knows \d+ tokens, its weights \d+: it is another"),
        (damaged_weights, r"expected .*a T5 that was trained to say true or false.*header"),
    ],
)
def test_a_model_that_cannot_be_used_is_one_clear_line(folder, tmp_path, damage, message):
    copy = shutil.copytree(folder, tmp_path / "copy")
    damage(copy)
    with pytest.raises(InputError, match=message) as caught:
        open_mono_t5(settings(copy))
    assert len(str(caught.value).splitlines()) == 1


def test_a_tokenizer_without_the_answers_is_refused(tmp_path):
    vocabulary = [item for item in tokens() if item[0] != "▁false"]
    other = save_tiny_t5(tmp_path / "other", vocabulary)
    with pytest.raises(InputError, match="has no token for 'false' alone"):
        open_mono_t5(settings(other))


def test_a_model_of_another_kind_is_refused(backbone):
    with pytest.raises(InputError, match="a BertForMaskedLM is no encoder with a decoder"):
        open_mono_t5(settings(backbone))


def test_a_length_without_room_is_refused(folder):
    # 7 tokens of the frame and its end, and 8
    assert open_mono_t5(settings(folder, max_length=16))
    from hybrid_ir.rerank.duo_t5 import open_duo_t5

    with pytest.raises(InputError, match=r"max_length: expected 17 or more, .*, got 16"):
        open_duo_t5(settings(folder, max_length=16))
