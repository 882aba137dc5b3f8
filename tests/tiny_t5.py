"""A tiny real T5 for tests: random weights, and a vocabulary of whole words and letters."""

from pathlib import Path

TEXT = (
    "Query Document Document0 Document1 Relevant true false gene heart lung brain virus kidney cell"
    " dose trial what is known about the of in and old new small large"
)


def tokens():
    """T5's kind of vocabulary: words with the mark of white space before them, letters, digits."""
    single = [chr(code) for code in range(33, 127)]
    pieces = ["▁", *(f"▁{word}" for word in TEXT.split()), *single]
    special = [(name, 0.0) for name in ("<pad>", "</s>", "<unk>")]
    return special + [(piece, -float(len(piece) == 1) * 5 - 1) for piece in pieces]


def save_tiny_t5(folder: Path, vocabulary=None, seed=3, spread=1.0) -> Path:
    """Save a T5 of 16 dimensions with its tokenizer; a large spread sets answers far apart."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    tokenizer = T5Tokenizer(vocab=vocabulary or tokens(), extra_ids=0)
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=spread,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
