"""Training data as an artefact: nothing leaks, everything left out is counted."""

import json
import re
import tempfile
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from hybrid_ir.bioasq.gold import read_gold
from hybrid_ir.bioasq.questions import read_questions
from hybrid_ir.config import load_config
from hybrid_ir.errors import InputError
from hybrid_ir.files import write_jsonl
from hybrid_ir.manifests import read_manifest
from hybrid_ir.pipeline.training_data import ON_TARGET_TEXTS, Sources, train_data
from hybrid_ir.records import Document, PseudoDocument, SyntheticPair
from hybrid_ir.retrieval.index import IndexConfig
from hybrid_ir.retrieval.indexing import build_index
from training.data_config import TrainDataConfig
from training.leaks import body_key

OLDER = ("6B1", "9B5", "11B4")
BATCHES = (*OLDER, "12B1", "12B2")
TARGET = "12B1"
FIRST = {"6B1": 1, "9B5": 101, "11B4": 201}
"""The first document of a batch's questions, which have one each, in order."""


def rows_of(folder):
    import datasets

    return datasets.load_from_disk(str(folder)).to_list()


def config(*overrides):
    return load_config(TrainDataConfig, None, overrides)


def question(id_, body, *snippets):
    """A golden question; snippets are (PMID, text)."""
    return {
        "id": id_,
        "body": body,
        "type": "list",
        "documents": [f"http://www.ncbi.nlm.nih.gov/pubmed/{pmid}" for pmid, _ in snippets],
        "ideal_answer": ["Something."],
        "snippets": [
            {
                "document": f"http://www.ncbi.nlm.nih.gov/pubmed/{pmid}",
                "text": text,
                "beginSection": "abstract",
                "endSection": "abstract",
                "offsetInBeginSection": 0,
                "offsetInEndSection": len(text),
            }
            for pmid, text in snippets
        ],
    }


def write(path, questions):
    path.write_text(json.dumps({"questions": questions}))
    return path


def golden(folder, batch, *questions):
    return write(folder / f"{batch}.golden.json", questions)


def target(folder, *bodies, name=f"{TARGET}.questions.json"):
    ids = enumerate(bodies)
    return write(folder / name, [{"id": f"t{n}", "body": b, "type": "list"} for n, b in ids])


def numbered(batch, count, first=900):
    """Questions with a document of their own each; all texts differ."""
    return [
        question(f"{batch}-{n}", f"What of {batch} {n}?", (str(first + n), f"{batch} says {n} so"))
        for n in range(count)
    ]


@pytest.fixture
def files(tmp_path):
    gold = [golden(tmp_path, batch, *numbered(batch, 4, FIRST[batch])) for batch in OLDER]
    return Sources(gold, [target(tmp_path, "Which target?", "Which other target?")])


@pytest.fixture
def output(tmp_path):
    return tmp_path / "made" / "data"


# Questions of few ids, bodies, documents and texts, so that they recur in all ways.
SPELLINGS = ("Is {}?", "is {}", "IS  {} ?", "Is {}!")
BODIES = st.builds(str.format, st.sampled_from(SPELLINGS), st.sampled_from("uvwxyz"))
IDS = st.sampled_from([f"id{n}" for n in range(8)])
MARKED = st.lists(st.tuples(st.sampled_from("123456789"), st.sampled_from("abcdef")), max_size=3)
QUESTIONS = st.lists(
    st.tuples(IDS, BODIES, MARKED), min_size=1, max_size=4, unique_by=lambda q: q[0]
)
PAIRS = st.lists(
    st.tuples(IDS, BODIES, st.sampled_from("123456789"), st.sampled_from(["passage", "question"]))
)


@settings(max_examples=20, phases=set(Phase) - {Phase.shrink, Phase.explain})  # both take long
@given(st.fixed_dictionaries(dict.fromkeys(BATCHES, QUESTIONS)), PAIRS, st.booleans())
def test_nothing_leaks_whatever_the_questions_and_golds(batches, written, named_before):
    marked = {}  # the text of each snippet says which question of which batch marks it
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        gold = []
        for batch, questions in batches.items():
            own, pmid = f"<{batch} has a text of its own>", str(900 + len(gold))
            marked[own] = (batch, "", "", pmid)
            content = [question(f"own {batch}", f"What about {batch}?", (pmid, own))]
            for id_, body, parts in questions:
                texts = [(pmid, f"<{batch} {id_} marks {pmid} for {word}>") for pmid, word in parts]
                marked |= {text: (batch, id_, body, pmid) for pmid, text in texts}
                content.append(question(id_, body, *texts))
            gold.append(golden(folder, batch, *content))
        targets = [{"id": i, "body": b, "type": "list"} for i, b, _ in batches[TARGET]]
        batch = write(folder / ("day.json" if named_before else f"{TARGET}.json"), targets)
        pairs = [
            SyntheticPair(id_, body, "list", pmid, f"written {n}", 1, source, "m")
            for n, (id_, body, pmid, source) in enumerate(written)
        ]
        write_jsonl(folder / "pairs.jsonl", pairs)
        sources = Sources(gold, [batch], [folder / "pairs.jsonl"])
        before = [f"before={TARGET}"] if named_before else []
        train_data(sources, folder / "data", config(*before))
        rows = rows_of(folder / "data" / "stage1")
    ids = {q["id"] for q in targets}
    bodies = {body_key(q["body"]) for q in targets}
    assert {f"own {batch}" for batch in OLDER} <= {row["question_id"] for row in rows}
    for row in rows:
        assert row["question_id"] not in ids
        assert body_key(row["question"]) not in bodies
        for text in re.findall("<[^>]*>", row["text"]):
            batch, id_, body, pmid = marked[text]
            assert batch in OLDER
            assert id_ not in ids
            assert body_key(body) not in bodies
            assert row["document_id"] == pmid


def test_the_rows_of_a_question_stand_together_in_an_order_of_the_seed(files, output):
    train_data(files, output, config())
    rows = rows_of(output / "stage1")
    order = [id_ for id_, _ in groupby(rows, key=lambda row: row["question_id"])]
    assert sorted(order) == sorted(f"{batch}-{n}" for batch in OLDER for n in range(4))
    assert order != sorted(order)
    # one positive each (a document that is a single snippet is one text), one negative for it
    assert Counter(row["label"] for row in rows) == {1.0: 12, 0.0: 12}


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(files, tmp_path):
    def content(name, *overrides):
        train_data(files, tmp_path / name, config(*overrides))
        return {file.name: file.read_bytes() for file in (tmp_path / name / "stage1").iterdir()}

    first = content("one")
    assert first == content("two")
    data = [name for name in first if name.endswith(".arrow")]
    assert data
    assert content("three", "seed=1")[data[0]] != first[data[0]]


def test_younger_files_and_questions_of_the_target_are_reported(files, tmp_path, output, caplog):
    recurring = question("old", "which TARGET", ("1", "An answer."))
    same_id = question("t1", "Reworded?", ("1", "An answer."))
    more = [
        golden(tmp_path, "7B1", recurring, same_id),
        golden(tmp_path, TARGET, question("t0", "Which target?", ("2", "The answer."))),
        golden(tmp_path, "13B1", *numbered("13B1", 1)),
    ]
    sources = Sources([*files.gold, *more], files.target)
    with caplog.at_level("INFO"):
        info = train_data(sources, output, config()).info
    assert info["golden_files_left_out"] == ["12B1.golden.json", "13B1.golden.json"]
    assert info["batches"] == ["6B1", "7B1", "9B5", "11B4"]
    assert info["no_older_than_the_target"] == []
    left_out = info["left_out_or_short"]
    assert left_out["golden question has a target question's id"] == 1
    assert left_out["golden question has a target question's body"] == 1
    assert info["stage1"]["questions"] == 12
    assert "answer" not in str([row["text"] for row in rows_of(output / "stage1")])
    assert "left out 2 golden files" in caplog.text


def test_before_is_the_one_key_of_a_test_day(files, output):
    info = train_data(files, output, config("before=9B5")).info
    assert info["batches"] == ["6B1"]
    manifest = read_manifest(output)
    assert manifest.settings["before"] == "9B5"
    assert manifest.settings["batches"]["11B4.golden.json"] == "11B4"
    assert manifest.settings["curriculum"] is False


def test_batches_no_older_than_a_target_are_used_on_demand_and_labelled(files, tmp_path, output):
    early = target(tmp_path, "Which early one?", name="9B4.questions.json")
    sources = Sources(files.gold, [early, *files.target])
    info = train_data(sources, output, config("before=11B4")).info
    assert info["batches"] == ["6B1", "9B5"]
    assert info["no_older_than_the_target"] == ["9B5"]


def test_it_is_made_again_when_what_decides_it_changes(files, tmp_path, output):
    first = train_data(files, output, config())
    assert train_data(files, output, config()).key == first.key
    late = golden(tmp_path, "12B3", *numbered("12B3", 1))
    more = Sources([*files.gold, late], files.target)
    assert train_data(more, output, config()).info["golden_files_left_out"] == [late.name]
    assert train_data(files, output, config("seed=1")).key != first.key


def pseudo(folder, *texts):
    written = [PseudoDocument(*text) for text in texts]
    write_jsonl(folder / "pseudo.jsonl", written)
    return [folder / "pseudo.jsonl"]


def test_pseudo_documents_make_a_labelled_stage_2(files, tmp_path, output, caplog):
    texts = pseudo(
        tmp_path, ("t0", "m", 0, "p", "Made up.", 0.25), ("zz", "m", 0, "p", "Not of this.", 1.0)
    )
    info = train_data(Sources(files.gold, files.target, pseudo=texts), output, config()).info
    assert info["stage2"]["says"] == ON_TARGET_TEXTS
    assert (info["stage2"]["positives_pseudo"], info["stage2"]["questions"]) == (1, 1)
    assert info["pseudo_documents_of_other_questions"] == 1
    assert info["left_out_or_short"]["question of stage 2 without a positive"] == 1
    right, wrong = rows_of(output / "stage2")
    assert (right["question"], right["text"], right["weight"]) == (
        "Which target?",
        "Made up.",
        0.25,
    )
    assert (wrong["label"], wrong["source"]) == (0.0, "random")
    assert ON_TARGET_TEXTS in caplog.text
    assert not {"t0", "t1"}.intersection(row["question_id"] for row in rows_of(output / "stage1"))


def test_without_pseudo_documents_there_is_no_stage_2(files, output):
    train_data(files, output, config())
    assert [path.name for path in output.iterdir()] == ["stage1"]


def run_file(folder, *lines):
    path = folder / "run.trec"
    path.write_text("".join(f"{q} Q0 {d} {r} {s} x\n" for q, d, r, s in lines))
    return path


def test_negatives_come_from_a_run_with_texts_of_the_golds(files, tmp_path, output):
    # 6B1-0 is right with document 1: score 8; 101 scores above 0.95 of that, 999 has no text
    lines = [("6B1-0", d, r, 10 - r) for r, d in enumerate(("101", "1", "999", "102", "103"), 1)]
    sources = Sources(files.gold, files.target, run=run_file(tmp_path, *lines))
    settings_ = config(
        "negatives.random.count=0", "negatives.run={count: 9, per: question, first: 1}"
    )
    info = train_data(sources, output, settings_).info
    rows = rows_of(output / "stage1")
    assert [(row["document_id"], row["source"]) for row in rows] == [
        ("1", "gold"), ("103", "run"), ("102", "run"),
    ]  # fmt: skip
    assert rows[1]["text"] == "9B5 says 2 so"
    left_out = info["left_out_or_short"]
    assert left_out["question of stage 1 that run.trec lacks"] == 11
    assert left_out["run negative: has no text"] == 1
    assert left_out["run negative: scores too near a positive"] == 1


def test_a_teachers_scores_are_kept(files, tmp_path, output):
    teacher = run_file(tmp_path, ("6B1-0", "1", 1, 2.5), ("6B1-1", "2", 1, 1.5))
    info = train_data(Sources(files.gold, files.target, teacher=teacher), output, config()).info
    assert info["stage1"]["with_a_teacher"] == 2
    scores = {
        row["question_id"]: row["teacher"] for row in rows_of(output / "stage1") if row["label"]
    }
    assert (scores["6B1-0"], scores["6B1-1"], scores["6B1-2"]) == (2.5, 1.5, None)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Every document of the golden files, with a word that only the index has."""
    folder = tmp_path_factory.mktemp("index") / "index"
    ids = [(batch, n, FIRST[batch] + n) for batch in OLDER for n in range(4)]
    documents = [Document(str(d), f"{b} says {n} so", f"indexed {b}") for b, n, d in ids]
    build_index(documents[:-1], folder, IndexConfig(threads=1, buffer_mb=16))
    return folder


def test_negatives_are_mined_by_bm25_and_texts_come_from_the_golds(files, index, output):
    sources = Sources(files.gold, files.target, index=index)
    bm25 = "negatives.bm25={count: 1, first: 1, last: 3}"
    train_data(sources, output, config("negatives.random.count=0", bm25, "filter.margin=null"))
    rows = rows_of(output / "stage1")
    wrong = [row for row in rows if row["source"] == "bm25"]
    assert len(wrong) == 12
    for row in wrong:
        batch, number = row["question_id"].split("-")
        assert {batch, number}.intersection(row["text"].split())  # found by a word
    assert not any("indexed" in row["text"] for row in rows)


def test_texts_of_the_index_are_taken_on_demand(files, index, output):
    sources = Sources(files.gold, files.target, index=index)
    info = train_data(sources, output, config("texts=index", "positives=[documents]")).info
    rows = rows_of(output / "stage1")
    assert all(f"so indexed {row['text'][:3]}" in row["text"] for row in rows)
    assert info["left_out_or_short"]["gold document without a text"] == 1  # not in the index
    assert info["left_out_or_short"]["question of stage 1 without a positive"] == 1


@pytest.mark.parametrize(
    ("change", "overrides", "message"),
    [
        ({"gold": []}, [], "expected golden files to train on"),
        ({"target": []}, [], "expected the questions that are to be answered"),
        ({}, ["negatives.bm25.count=1"], "negatives from BM25 need an index"),
        ({}, ["stage2.negatives.bm25.count=1"], "negatives from BM25 need an index"),
        ({}, ["texts=index"], "texts=index needs the index"),
        ({}, ["negatives.run.count=1"], "negatives from a run need one"),
        ({"run": "there"}, [], "no negatives are wanted from it"),
        ({"run": "there"}, ["negatives.run.count=1"], "none of the 12 questions of stage 1"),
        ({"teacher": "there"}, [], "none of the 12 questions of stage 1"),
        ({}, ["before=6B1"], "expected golden files of batches before 6B1"),
        ({}, ["batches={x.json: 9B1}"], "x.json: there is no such file"),
    ],
)
def test_what_does_not_go_together_is_said(files, tmp_path, output, change, overrides, message):
    other = run_file(tmp_path, ("other", "1", 1, 1.0))
    given_ = {"gold": files.gold, "target": files.target} | {
        name: other if value == "there" else value for name, value in change.items()
    }
    with pytest.raises(InputError, match=message):
        train_data(Sources(**given_), output, config(*overrides))
    assert not output.exists()


def test_golds_of_unknown_age_are_refused_unless_they_are_given(files, tmp_path, output):
    mine = write(tmp_path / "mine.json", numbered("mine", 2, 900))
    sources = Sources([*files.gold, mine], files.target)
    with pytest.raises(InputError, match=r"batches=\{mine.json: 10B3\}"):
        train_data(sources, output, config())
    assert (
        "10B3" in train_data(sources, output, config("batches={mine.json: 10B3}")).info["batches"]
    )


def test_a_target_of_unknown_age_needs_before(files, tmp_path, output):
    day = target(tmp_path, "Which one today?", name="today.json")
    sources = Sources(files.gold, [day])
    with pytest.raises(InputError, match="say so, as in before=12B1"):
        train_data(sources, output, config())
    assert train_data(sources, output, config("before=11B4")).info["batches"] == ["6B1", "9B5"]


def test_golds_of_the_target_alone_are_refused(tmp_path, output):
    only = golden(tmp_path, TARGET, *numbered(TARGET, 2))
    with pytest.raises(InputError, match="before 12B1 other than 12B1, got 12B1"):
        train_data(Sources([only], [target(tmp_path, "Which?")]), output, config())


def test_questions_without_any_positive_are_an_error_with_the_reasons(tmp_path, output):
    bare = question("a", "Which?", ("1", " "))
    sources = Sources([golden(tmp_path, "6B1", bare)], [target(tmp_path, "What?")])
    with pytest.raises(InputError) as caught:
        train_data(sources, output, config())
    assert "stage1: no question has both a positive and a negative" in str(caught.value)
    assert "gold document without a text: 1" in str(caught.value)
    assert not output.exists()


def test_a_folder_with_something_else_is_not_replaced(files, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.txt").write_text("Years of work.")
    with pytest.raises(InputError, match="training data to replace"):
        train_data(files, tmp_path / "thesis", config())
    assert (tmp_path / "thesis" / "chapter.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "marked_in_both"), [("12B1", 18), ("11B2", 10)])
def test_nothing_of_the_example_collections_test_is_in_its_training_data(
    mini, output, name, marked_in_both
):
    gold = sorted([*mini.glob("*/*.golden.json.gz")])
    batch = mini / "test" / f"{name}.questions.json"
    info = train_data(Sources(gold, [batch]), output, config("max_positives=null")).info
    assert name not in info["batches"]
    assert {"6B1", "9B5", "10B6"} <= set(info["batches"])
    rows = rows_of(output / "stage1")
    questions = read_questions(batch)
    assert {row["question_id"] for row in rows}.isdisjoint(question.id for question in questions)
    bodies = {body_key(question.body) for question in questions}
    assert {body_key(row["question"]) for row in rows}.isdisjoint(bodies)
    older, of_test = defaultdict(set), defaultdict(set)
    for path in gold:
        batch_name = path.name.partition(".")[0]
        if batch_name != name and batch_name not in info["batches"]:
            continue
        side = of_test if batch_name == name else older
        for item in read_gold(path, "enriched"):
            for part in item.snippets:
                side[part.document_id].add(" ".join(part.text.split()))
    shared = older.keys() & of_test.keys()
    assert len(shared) >= marked_in_both
    texts = {pmid: {row["text"] for row in rows if row["document_id"] == pmid} for pmid in shared}
    assert any(texts.values())
    news = 0
    for pmid in shared:
        for text in of_test[pmid]:
            if not any(text in known for known in older[pmid]):
                news += 1
                assert not any(text in trained for trained in texts[pmid])
    assert news > 10
    known = set().union(*older.values())
    unknown = set().union(*of_test.values()) - known
    assert unknown.isdisjoint(row["text"] for row in rows)
