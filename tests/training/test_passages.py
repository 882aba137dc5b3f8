"""Documents' texts."""

import pytest

from hybrid_ir.pubmed.store import DocumentStore, StoreWriter
from hybrid_ir.records import Document, Gold, Snippet
from training.passages import snippet_passages, text_in


def gold(id_, *snippets):
    parts = tuple(Snippet(pmid, section, 0, len(text), text) for pmid, section, text in snippets)
    return Gold(id_, "enriched", (), parts, (), None)


def test_a_text_is_made_of_all_golds_snippets_title_first_each_once():
    passages = snippet_passages(
        [
            gold("a", ("1", "abstract", "Second\nline."), ("1", "sections.0", "Third.")),
            gold("b", ("1", "title", " First. "), ("1", "abstract", "Second line.")),
            gold("c", ("2", "abstract", "Other."), ("3", "abstract", "  ")),
        ]
    )
    assert passages.text_of("1") == "First. Second line. Third."
    assert passages.text_of("2") == "Other."
    assert [passages.id_at(place) for place in range(passages.count)] == ["1", "2"]


@pytest.mark.parametrize("missing", ["3", "4"])
def test_a_blank_text_and_an_unknown_document_are_none(missing):
    assert snippet_passages([gold("c", ("3", "abstract", "  "))]).text_of(missing) is None


def test_the_stores_texts_are_the_documents(tmp_path):
    writer = StoreWriter(tmp_path / "documents.sqlite")
    writer.add([Document("7", "Title.", "Abstract."), Document("8")])
    writer.close()
    store = DocumentStore(tmp_path / "documents.sqlite")
    assert [text_in(store, id_) for id_ in ("7", "8", "9")] == ["Title. Abstract.", None, None]
    store.close()
