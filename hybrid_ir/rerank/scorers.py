"""From settings to scorers, with the cache of scores in front of those that score pair by pair."""

from __future__ import annotations

from hybrid_ir.rerank.cache import ScoreCache, cached
from hybrid_ir.rerank.candidates import Scorer
from hybrid_ir.rerank.models import identity_of, model_folder
from hybrid_ir.rerank.settings import ScorerConfig


def open_scorer(config: ScorerConfig, cache: ScoreCache | None) -> Scorer:
    """Load what a scorer needs.

    Args:
        config: Settings.
        cache: Scores that were computed before; not used where a score depends on the other
            candidates (``bm25``, ``duo_t5``).

    Raises:
        InputError: a package or a model is missing, or the model is of another kind.
    """
    scorer = _opened(config)
    alone = config.kind in ("cross_encoder", "bi_encoder", "mono_t5")
    if not (cache and alone):
        return scorer
    return cached(scorer, _identity(config), cache, config.with_texts)


def _opened(config: ScorerConfig) -> Scorer:
    match config.kind:
        case "bm25":
            from hybrid_ir.rerank.bm25 import open_bm25

            return open_bm25(config)
        case "cross_encoder":
            from hybrid_ir.rerank.cross_encoder import open_cross_encoder

            return open_cross_encoder(config)
        case "bi_encoder":
            from hybrid_ir.rerank.bi_encoder import open_bi_encoder

            return open_bi_encoder(config)
        case "mono_t5":
            from hybrid_ir.rerank.mono_t5 import open_mono_t5

            return open_mono_t5(config)
        case "duo_t5":
            from hybrid_ir.rerank.duo_t5 import open_duo_t5

            return open_duo_t5(config)


def _identity(config: ScorerConfig) -> str:
    """Name all that decides a pair's score but the pair."""
    from hybrid_ir.rerank.precision import precision_of

    weights = identity_of(model_folder(config.model, config.revision))
    precision = precision_of(config)
    how = f"{config.max_length} {precision} {config.similarity} {config.windows}"
    return f"{config.kind} {weights} {how}{' with texts' if config.with_texts else ''}"
