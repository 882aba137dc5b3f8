"""The model card: what a model was trained on and how, what it scores, under which licence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from hybrid_ir.config import plain
from hybrid_ir.hub import folder_of
from hybrid_ir.manifests import Manifest
from training.settings import TrainConfig

UNKNOWN = "unknown"
FILES = ("run", "gold", "index")
"""What of the development batch's settings are files."""


def licence_of(model: str, revision: str = "") -> str:
    """Give the licence that a backbone's own card names; ``unknown`` where it names none."""
    try:
        text = _card_of(model, revision).read_text(encoding="utf-8")
        head = yaml.safe_load(text.split("---")[1]) if text.startswith("---") else {}
    except (OSError, ValueError, yaml.YAMLError):
        return UNKNOWN
    return str(head.get("license", UNKNOWN)) if isinstance(head, dict) else UNKNOWN


def _card_of(model: str, revision: str) -> Path:
    """Find the card; an OSError or ValueError where there is none."""
    if folder := folder_of(model):
        return folder / "README.md"
    from huggingface_hub import hf_hub_download

    return Path(hf_hub_download(model, "README.md", revision=revision or None))


def shown(config: TrainConfig) -> dict[str, Any]:
    """Give the settings as others may see them.

    Files and folders go by their names: whole paths name users and machines. Where metrics were
    sent to is left out.
    """
    settings = plain(config)
    del settings["tracking"]
    settings["model"] = _model(config)
    for of, keys in ((settings, ("data", "output")), (settings["development"], FILES)):
        of.update({key: of[key] and Path(of[key]).resolve().name for key in keys})
    return settings


def _model(config: TrainConfig) -> str:
    """Give the backbone's name, that of its folder where it is one."""
    folder = Path(config.model).expanduser()
    return folder.resolve().name if folder.is_dir() else config.model


def model_card(
    config: TrainConfig, facts: Mapping[str, Any], data: Manifest | None, licence: str
) -> str:
    """Write the card.

    Args:
        config: What was trained and how.
        facts: What came of it, by stage: pairs, steps, losses, MAP.
        data: The training data's manifest, where it has one.
        licence: The backbone's.
    """
    head = {
        "library_name": "sentence-transformers",
        "pipeline_tag": "text-ranking",
        "tags": ["sentence-transformers", "cross-encoder", "reranker", "bioasq"],
        "base_model": _model(config),
        "license": licence,
    }
    name = config.output.resolve().name
    return "\n".join(
        [
            "---",
            yaml.safe_dump(head, sort_keys=False).rstrip(),
            "---",
            "",
            f"# {name}",
            "",
            f"A cross-encoder that scores how relevant a passage is to a question, made of"
            f" `{_model(config)}`{_revision(config)} by `hybrid-ir train`.",
            "",
            "```python",
            "from sentence_transformers import CrossEncoder",
            "",
            f'model = CrossEncoder("{name}")',
            'scores = model.predict([("question", "passage")])',
            "```",
            "",
            "## Licence",
            "",
            *_licence(config, licence),
            "",
            "## Scores",
            "",
            *_scores(config, facts),
            "",
            "## Training data",
            "",
            *_data(config, data),
            "",
            "## Training",
            "",
            *_yaml({"stages": facts}),
            *_yaml({"settings": shown(config)}),
        ]
    )


def _revision(config: TrainConfig) -> str:
    return f" at `{config.revision}`" if config.revision else ""


def _licence(config: TrainConfig, licence: str) -> Iterator[str]:
    if licence == UNKNOWN:
        yield (
            f"That of the backbone `{_model(config)}` is not known here: look at its page before"
            " you pass this model on."
        )
    else:
        yield f"The backbone `{_model(config)}` is under `{licence}`, according to its own card."
    yield (
        "The training data may be under terms of its own: BioASQ's are at http://bioasq.org, those"
        " of PubMed's abstracts with their publishers."
    )


def _scores(config: TrainConfig, facts: Mapping[str, Any]) -> Iterator[str]:
    development = config.development
    if development.run is None or development.gold is None:
        yield "No development batch was judged."
        return
    yield (
        f"MAP@10 ({development.mode}) of `{development.gold.name}`, the first {development.depth}"
        f" documents of `{development.run.name}` as they are and re-ranked; the batch chose the"
        " state that was kept, so these values are too kind:"
    )
    yield ""
    yield "| stage | the run itself | untrained or before | kept | at step |"
    yield "|---|---|---|---|---|"
    for name, stage in facts.items():
        maps = (f"{stage[key]:.4f}" for key in ("map_of_run", "map_before", "map"))
        yield f"| {name} | {' | '.join(maps)} | {stage['kept_step']} |"


def _data(config: TrainConfig, data: Manifest | None) -> Iterator[str]:
    yield f"`{config.data.resolve().name}`" + (":" if data else ", which has no manifest.")
    if data:
        yield from _yaml({"made_by": data.stage, "key": data.key, "counts": data.info})
        yield from _yaml({"settings": data.settings})


def _yaml(content: Mapping[str, Any]) -> Iterator[str]:
    yield "```yaml"
    yield yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True).rstrip()
    yield "```"
