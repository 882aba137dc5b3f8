from itertools import islice

import pytest

from hybrid_ir.files import read_jsonl, write_jsonl
from hybrid_ir.records import Document


@pytest.fixture(scope="module")
def documents(mini, tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "documents.jsonl"
    write_jsonl(path, islice(read_jsonl(mini / "documents.jsonl.gz", Document), 3000))
    return path
