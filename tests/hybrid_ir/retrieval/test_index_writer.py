import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.files import remove
from hybrid_ir.records import Document
from hybrid_ir.retrieval.index import IndexConfig, open_reader
from hybrid_ir.retrieval.index_writer import writing_lucene

CONFIG = IndexConfig(buffer_mb=16)


def test_what_java_cannot_write_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(InputError, match=r"file: FileAlreadyExistsException: ") as caught,
        writing_lucene(tmp_path / "file", CONFIG),
    ):
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("commits", [True, False])
def test_a_folder_that_is_taken_away_is_said_in_one_line(tmp_path, commits):
    folder = tmp_path / "lucene"

    def write():
        with writing_lucene(folder, CONFIG) as lucene:
            lucene.change([Document("1", "heart")])
            assert lucene.documents() == 1
            remove(folder)
            if commits:
                lucene.commit(1)

    with pytest.raises(InputError, match="lucene: NoSuchFileException") as caught:
        write()
    assert "\n" not in str(caught.value)


def test_what_lucene_cannot_read_is_said_in_one_line(tmp_path):
    with pytest.raises(InputError, match="Lucene cannot read it: index again") as caught:
        open_reader(tmp_path)
    assert "\n" not in str(caught.value)
