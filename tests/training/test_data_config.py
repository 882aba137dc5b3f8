"""Settings of training data."""

import pytest

from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from training.data_config import TrainDataConfig

NONE = "negatives.random.count=0"


def test_the_defaults_are_the_papers_random_negatives():
    config = load_config(TrainDataConfig)
    assert (config.negatives.random.count, config.negatives.random.per) == (1, "positive")
    assert (config.negatives.bm25.count, config.negatives.run.count) == (0, 0)
    assert config.first_unused is None


def test_before_is_one_key():
    assert load_config(TrainDataConfig, None, ["before=12B1"]).first_unused == (12, 1)


def test_batches_are_given_by_file_name():
    config = load_config(TrainDataConfig, None, ["batches={a.json.gz: 9B1}"])
    assert config.batches == {"a.json.gz": "9B1"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["before=soon"], "before: expected a batch such as 12B1, got 'soon'"),
        (["max_positives=0"], "max_positives: expected 1 or more, got 0"),
        (["max_synthetic=0"], "max_synthetic: expected 1 or more"),
        (["max_negatives=0"], "max_negatives: expected 1 or more"),
        (["positives=[]"], "positives: expected one or both of documents and snippets"),
        (["positives=[snippets,snippets]"], "positives: expected one or both"),
        ([NONE], "negatives: expected a count above 0 for at least one kind"),
        ([f"stage2.{NONE}"], "stage2.negatives: expected a count above 0"),
        (["curriculum=true"], "curriculum: expected mined negatives to go with it"),
        (["stage2.least_weight=2"], "least_weight: expected 0 to 1"),
        (["negatives.bm25.frist=3"], "did you mean 'negatives.bm25.first'"),
        (["texts=corpus"], "texts"),
    ],
)
def test_what_cannot_be_used_is_refused(settings, message):
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        load_config(TrainDataConfig, None, settings)


def test_other_texts_alone_are_negatives_of_stage_2():
    settings = [f"stage2.{NONE}", "stage2.other_texts.count=1"]
    assert load_config(TrainDataConfig, None, settings).stage2.other_texts.count == 1
