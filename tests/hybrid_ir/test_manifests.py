import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.manifests import Stage, changed_files, manifest_path, read_manifest, run_stage


@dataclass(frozen=True)
class Settings:
    suffix: str = "!"


@pytest.fixture
def stage(tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("text")
    return Stage("shout", 1, Settings(), {"source": source})


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out.txt"


def made(stage: Stage, output: Path, verify: bool = False) -> bool:
    """Run the stage; say whether it did any work."""
    calls = []

    def work(key: str) -> dict[str, object]:
        calls.append(key)
        output.write_text(stage.inputs["source"].read_text().upper() + stage.settings.suffix)
        return {"files": 1}

    manifest = run_stage(stage, output, work, verify)
    assert all(key == manifest.key for key in calls)
    return bool(calls)


def keep_times(path: Path, content: str) -> None:
    """Change a file's content behind its time stamp."""
    stat = path.stat()
    path.write_text(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def test_a_stage_runs_once(stage, output):
    assert made(stage, output)
    assert not made(stage, output)
    assert not made(stage, output, verify=True)
    manifest = read_manifest(output)
    assert manifest is not None
    assert manifest.info["files"] == 1
    assert manifest.settings == {"suffix": "!"}


def test_other_settings_code_or_input_make_it_stale(stage, output):
    assert made(stage, output)
    other = replace(stage, settings=Settings("?"))
    assert made(other, output)
    assert made(replace(other, version=2), output)
    stage.inputs["source"].write_text("texts")
    assert made(replace(other, version=2), output)


def test_an_input_with_a_new_time_but_the_old_content_is_not_stale(stage, output):
    assert made(stage, output)
    os.utime(stage.inputs["source"], (1, 1))
    assert not made(stage, output)


@pytest.mark.parametrize("content", ["TEX", "", "OTHER"])
def test_a_truncated_or_foreign_artefact_does_not_count_as_done(stage, output, content):
    assert made(stage, output)
    output.write_text(content)
    assert made(stage, output)
    assert output.read_text() == "TEXT!"


def test_verify_finds_a_change_that_size_and_time_hide(stage, output):
    assert made(stage, output)
    keep_times(output, "TEXT?")
    assert not made(stage, output)
    assert made(stage, output, verify=True)
    keep_times(stage.inputs["source"], "tax ")
    assert not made(stage, output)
    assert made(stage, output, verify=True)


def test_a_lost_or_broken_manifest_means_work(stage, output):
    assert made(stage, output)
    manifest_path(output).write_text("{")
    assert made(stage, output)
    manifest_path(output).unlink()
    assert made(stage, output)


def test_an_artefact_that_is_made_anew_alike_leaves_its_followers_up_to_date(tmp_path, stage):
    folder, copy = tmp_path / "folder", tmp_path / "copy.txt"

    def make_folder(_: str) -> dict[str, object]:
        folder.mkdir(exist_ok=True)
        (folder / "random").write_bytes(os.urandom(8))  # as Lucene's segment ids are
        return {}

    def follow() -> bool:
        calls = []

        def work(key: str) -> dict[str, object]:
            calls.append(key)
            copy.write_text("copy")
            return {}

        run_stage(Stage("copy", 1, Settings(), {"folder": folder}), copy, work)
        return bool(calls)

    run_stage(stage, folder, make_folder)
    assert follow()
    manifest_path(folder).unlink()
    run_stage(stage, folder, make_folder)
    assert not follow()
    (folder / "random").write_bytes(b"foreign")
    with pytest.raises(InputError, match="has changed since shout made it"):
        follow()
    manifest_path(folder).unlink()
    assert follow()


def test_an_input_is_never_overwritten(stage, tmp_path):
    source = stage.inputs["source"]
    link = tmp_path / "link.txt"
    link.symlink_to(source)
    for name in (source, link):
        with pytest.raises(InputError, match="would be overwritten"):
            made(stage, name)
    assert source.read_text() == "text"


def test_a_missing_input_is_named(stage, output):
    stage.inputs["source"].unlink()
    with pytest.raises(InputError, match=r"in\.txt: expected a file or folder"):
        made(stage, output)


def test_a_folder_that_says_what_it_holds_is_known_by_that(tmp_path, output):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "corpus.json").write_text("1")
    (folder / "large").write_text("text")
    stage = Stage("shout", 1, Settings(), {"source": folder})

    def run():
        calls = []

        def work(key):
            calls.append(key)
            output.write_text("done")
            return {}

        run_stage(stage, output, work)
        return bool(calls)

    assert [run(), run()] == [True, False]
    assert list(read_manifest(output).inputs["source"].files) == ["corpus.json"]
    (folder / "large").write_text("other text")
    assert not run()
    (folder / "corpus.json").write_text("2")
    assert run()


def test_changed_files_are_named(tmp_path):
    folder = tmp_path / "made"

    def work(_):
        folder.mkdir()
        for name in ("same", "longer", "other", "lost"):
            (folder / name).write_text("text")
        return {}

    manifest = run_stage(Stage("make", 1, Settings(), {}), folder, work)
    assert changed_files(folder, manifest, verify=True) == set()
    (folder / "longer").write_text("longer text")
    keep_times(folder / "other", "Text")
    (folder / "lost").unlink()
    (folder / "new").write_text("")
    assert changed_files(folder, manifest, verify=False) == {"longer", "lost", "new"}
    assert changed_files(folder, manifest, verify=True) == {"longer", "lost", "new", "other"}


def test_two_processes_never_make_one_artefact_at_once(stage, output):
    other = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from hybrid_ir.files import alone
        with alone(Path(sys.argv[1])):
            print("in", flush=True)
            sys.stdin.readline()
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", other, output], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        with pytest.raises(InputError, match="another process is writing it"):
            made(stage, output)
        process.communicate(b"\n")
    assert made(stage, output)
    assert not list(output.parent.glob(".*.lock"))


def test_a_pipe_is_refused_since_it_can_be_read_only_once(stage, output, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="pipe: expected a file or folder, it is a pipe"):
        made(replace(stage, inputs={"source": pipe}), output)
