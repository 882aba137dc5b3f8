"""Training a tiny backbone in this process."""

import json
import logging
import math
import shutil

import pytest

from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from training.settings import TrainConfig

STEPS = 16 * 5 // 8
"""16 questions with 5 passages, 8 pairs a step."""


def config(settings, *more):
    return load_config(TrainConfig, None, [*settings, *more])


def trained(settings, *more):
    from training.cross_encoder import train

    return train(config(settings, *more))


def losses(folder, stage="stage1"):
    entries = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [entry[f"{stage}/loss"] for entry in entries if f"{stage}/loss" in entry]


def fingerprint(folder):
    from safetensors.torch import load_file

    return {
        name: tensor.sum().item()
        for name, tensor in load_file(folder / "model.safetensors").items()
    }


@pytest.mark.slow
def test_the_loss_falls_and_the_model_tells_passages_apart(settings, tmp_path, rows_of):
    from sentence_transformers import CrossEncoder

    manifest = trained(settings, "stage1.epochs=6", "stage1.loss=infonce", "stage1.list_size=4")
    seen = losses(tmp_path / "model")
    assert len(seen) == 6 * 16  # lists of one positive and three of its four negatives, so two each
    assert sum(seen[-16:]) < 0.3 * sum(seen[:16])
    model = CrossEncoder(str(tmp_path / "model"), device="cpu")
    rows = rows_of(seed=7)
    scores = model.predict([(row["question"], row["text"]) for row in rows])
    firsts = [max(scores[n : n + 5]) == scores[n] for n in range(0, len(rows), 5)]
    assert sum(firsts) >= 12  # of 16; by chance 3
    assert manifest.info["stages"]["stage1"]["steps"] == 6 * 16
    assert {path.suffix for path in (tmp_path / "model").iterdir()} == {
        ".json", ".jsonl", ".md", ".safetensors",
    }  # fmt: skip
    assert not (tmp_path / ".model.partial").exists()


@pytest.mark.slow
def test_bce_teaches(settings, tmp_path, rows_of, save_rows):
    save_rows(rows_of(negatives=1), tmp_path / "even" / "stage1")
    trained(settings, "stage1.epochs=20", f"data={tmp_path / 'even'}")
    seen = losses(tmp_path / "model")
    assert seen[0] == pytest.approx(math.log(2), abs=0.1)
    assert sum(seen[-8:]) / 8 < 0.35


@pytest.mark.slow
def test_what_is_up_to_date_is_not_trained_again(settings, tmp_path, caplog):
    trained(settings, "stage1.max_steps=2")
    before = (tmp_path / "model" / "model.safetensors").stat().st_mtime_ns
    with caplog.at_level(logging.INFO):
        trained(settings, "stage1.max_steps=2", "log_every=2")  # decides nothing
    assert "is up to date" in caplog.text
    assert (tmp_path / "model" / "model.safetensors").stat().st_mtime_ns == before
    trained(settings, "stage1.max_steps=3")
    assert (tmp_path / "model" / "model.safetensors").stat().st_mtime_ns != before


@pytest.mark.slow
def test_the_same_seed_gives_the_same_model(settings, tmp_path):
    more = ("stage1.max_steps=3", "dropout=0.1")
    for name in ("a", "b"):
        trained(settings, *more, f"output={tmp_path / name}")
    trained(settings, *more, f"output={tmp_path / 'c'}", "seed=1")
    assert fingerprint(tmp_path / "a") == fingerprint(tmp_path / "b")
    assert fingerprint(tmp_path / "a") != fingerprint(tmp_path / "c")


@pytest.mark.slow
def test_accumulated_parts_equal_the_whole_batch(settings, tmp_path):
    trained(settings, "stage1.max_steps=5", f"output={tmp_path / 'whole'}")
    trained(settings, "stage1.max_steps=5", "micro_batch=2", f"output={tmp_path / 'parts'}")
    assert losses(tmp_path / "parts") == pytest.approx(losses(tmp_path / "whole"), abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["pairwise", "infonce", "lambda", "listnet", "margin_mse"])
def test_losses_over_lists_teach(settings, tmp_path, loss):
    trained(settings, "stage1.epochs=4", f"stage1.loss={loss}", "stage1.list_size=4")
    seen = losses(tmp_path / "model")
    quarter = len(seen) // 4
    assert sum(seen[-quarter:]) < 0.95 * sum(seen[:quarter])  # listnet's least is 0.92 of its first


@pytest.mark.slow
def test_a_second_stage_goes_on_from_the_first(settings, data, tmp_path, rows_of, save_rows):
    save_rows(rows_of(questions=8, seed=1, source="pseudo"), data / "stage2")
    manifest = trained(
        settings,
        "stage1.epochs=6",
        *(f"{stage}.loss=infonce" for stage in ("stage1", "stage2")),
        *(f"{stage}.list_size=4" for stage in ("stage1", "stage2")),
    )
    facts = manifest.info["stages"]
    assert facts["stage1"]["steps"] == 6 * 16  # 16 questions with two lists each, two lists a step
    assert facts["stage2"]["steps"] == 8
    assert facts["stage1"]["parameters"] != facts["stage2"]["parameters"]
    untrained = math.log(4)  # four passages that all look alike
    assert losses(tmp_path / "model", "stage2")[0] < 0.8 * untrained
    card = (tmp_path / "model" / "README.md").read_text()
    assert "license: unknown" in card
    assert "stage2" in card


@pytest.mark.slow
def test_lora_trains_little_and_leaves_a_plain_model(settings, tmp_path, backbone):
    from safetensors.torch import load_file
    from sentence_transformers import CrossEncoder

    trained(
        settings, "stage1.epochs=4", "lora.rank=4", "lora.dropout=0", "gradient_checkpointing=true"
    )
    seen = losses(tmp_path / "model")
    assert sum(seen[-STEPS:]) < sum(seen[:STEPS])
    after, before = (
        load_file(tmp_path / "model" / "model.safetensors"),
        load_file(f"{backbone}/model.safetensors"),
    )
    assert not [name for name in after if "lora" in name]
    name = "bert.embeddings.word_embeddings.weight"
    assert (after[name] == before[name]).all()
    name = "bert.encoder.layer.0.attention.self.query.weight"
    assert (after[name] != before[name]).any()
    CrossEncoder(str(tmp_path / "model"), device="cpu").predict([("a", "b")])


@pytest.mark.slow
def test_bfloat16_follows_float32(settings, tmp_path):
    for precision in ("float32", "bf16"):
        trained(settings, f"precision={precision}", f"output={tmp_path / precision}")
    whole, half = losses(tmp_path / "float32"), losses(tmp_path / "bf16")
    assert half != whole
    assert half == pytest.approx(whole, abs=0.05)


def test_a_loss_that_is_no_number_ends_the_training(settings, tmp_path, data):
    with pytest.raises(
        InputError, match=r"no finite number any more.*checkpoint-2 is the last good"
    ):
        trained(
            settings,
            "stage1.loss=margin_mse",
            "stage1.learning_rate=1e19",
            "stage1.warmup=0.5",
            "stage1.list_size=4",
            "max_grad_norm=0",
            "evaluate_every=2",
            "stage1.epochs=40",
        )
    assert not (tmp_path / "model").exists()


@pytest.mark.slow
def test_a_hub_model_that_is_not_here_is_named(settings):
    with pytest.raises(InputError, match=r"a hub name of an encoder.*got 'nobody/nothing'"):
        trained(settings, "model=nobody/nothing")


@pytest.mark.parametrize(
    ("file", "size", "said"),
    [
        ("tokenizer.json", None, "there is no tokenizer with it"),
        ("model.safetensors", None, "no file named model.safetensors"),
        ("model.safetensors", 5000, "model: expected a folder"),
        ("config.json", 1, "config.json' is not a valid JSON"),
    ],
)
def test_a_model_that_is_not_whole_is_named(settings, tmp_path, backbone, file, size, said):
    """A file of it is missing, or cut off."""
    copy = tmp_path / "copy"
    shutil.copytree(backbone, copy, ignore=shutil.ignore_patterns("vocab.txt"))
    content = (copy / file).read_bytes()
    (copy / file).unlink()
    if size:
        (copy / file).write_bytes(content[:size])
    with pytest.raises(InputError, match=said):
        trained(settings, f"model={copy}")
    assert not (tmp_path / ".model.partial").exists()


def test_data_that_is_none_is_named(settings, tmp_path):
    (tmp_path / "empty" / "stage1").mkdir(parents=True)
    with pytest.raises(InputError, match="expected training data"):
        trained(settings, f"data={tmp_path / 'empty'}")


def test_labels_outside_0_to_1_are_named(settings, tmp_path, rows_of, save_rows):
    save_rows(rows_of(label=2.0), tmp_path / "odd" / "stage1")
    with pytest.raises(InputError, match=r"label: 80 of 80 are not from 0 to 1 \(first: row 0, q"):
        trained(settings, f"data={tmp_path / 'odd'}")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": None}, "text: 80 of 80 are missing"),
        ({"question_id": None}, "question_id: 80 of 80 are missing"),
        ({"label": None}, "label: 80 of 80 are not from 0 to 1"),
    ],
)
def test_what_is_missing_in_pairs_is_named(settings, tmp_path, rows_of, save_rows, change, said):
    save_rows(rows_of(**change), tmp_path / "odd" / "stage1")
    with pytest.raises(InputError, match=said):
        trained(settings, f"data={tmp_path / 'odd'}")


def test_columns_of_another_type_are_named(settings, tmp_path, rows_of):
    from datasets import Dataset

    rows = [row | {"label": "yes", "text": 5, "source": ["a"]} for row in rows_of(questions=2)]
    Dataset.from_list(rows).save_to_disk(str(tmp_path / "odd" / "stage1"))
    with pytest.raises(InputError, match="label: expected numbers, got string") as caught:
        trained(settings, f"data={tmp_path / 'odd'}")
    assert "text: expected texts, got int64" in str(caught.value)
    assert "source: expected texts, got " in str(caught.value)


def test_fp16_is_for_gpus(settings):
    import torch

    if torch.cuda.is_available():
        pytest.skip("for CPUs")
    anywhere = [setting for setting in settings if setting != "device=cpu"]
    for given in (settings, anywhere):
        with pytest.raises(InputError, match="expected bf16 or float32 on a CPU, got"):
            trained(given, "precision=fp16")


def test_the_second_stage_is_looked_at_before_the_first_is_trained(
    settings, tmp_path, data, rows_of, save_rows
):
    save_rows(rows_of(label=1.0), data / "stage2")
    with pytest.raises(InputError, match="stage2: bce cannot be trained on these pairs"):
        trained(settings)
    assert not (tmp_path / ".model.partial").exists()


def test_tokens_are_those_the_model_scores_with(settings, tmp_path, rows_of, save_rows):
    import numpy as np
    import torch

    from training.backbone import load_backbone
    from training.tokens import read_pairs, read_tokens, write_tokens

    rows = rows_of(questions=3)
    rows[3]["text"] = "word " * 100
    save_rows(rows, tmp_path / "stage1")
    dataset, _ = read_pairs(tmp_path / "stage1")
    model = load_backbone(config(settings), torch.device("cpu"))
    write_tokens(dataset, model.tokenizer, 48, tmp_path / "tokens")
    tokens = read_tokens(tmp_path / "tokens")
    wanted = model.preprocess([(row["question"], row["text"]) for row in rows])
    for number, row in enumerate(wanted["input_ids"]):
        ids = tokens.ids[tokens.starts[number] : tokens.starts[number + 1]]
        np.testing.assert_array_equal(ids, row[: len(ids)])
        assert wanted["attention_mask"][number].sum() == len(ids)
    assert tokens.cut == 1
    assert tokens.lengths.max() == 48


def test_settings_are_checked(tmp_path):
    with pytest.raises(InputError, match=r"did you mean 'stage1\.learning_rate'") as caught:
        load_config(
            TrainConfig, None, ["data=d", "output=o", "stage1.learning_rat=1", "batch_sise=8"]
        )
    assert "batch_size" in str(caught.value)
    with pytest.raises(InputError, match="patience: expected 0 without a development batch"):
        TrainConfig(tmp_path, tmp_path, patience=2)


def test_a_wrong_number_of_processes_is_refused(tmp_path):
    from training.cross_encoder import train

    with pytest.raises(
        InputError, match="expected 2, there are 1; on CPUs start them with torchrun"
    ):
        train(TrainConfig(tmp_path, tmp_path, processes=2, device="cpu"))
