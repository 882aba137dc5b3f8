import os
import threading

import pytest

from hybrid_ir.cli import main
from hybrid_ir.errors import InputError
from hybrid_ir.pubmed.polite import HttpConfig
from hybrid_ir.pubmed.sync import SyncConfig, sync

FIRST = "baseline/pubmed25n0001.xml.gz"


def counts(report):
    return report.downloaded, report.up_to_date, len(report.unlisted), len(report.faults)


@pytest.mark.parametrize("style", ["APACHE", "NGINX", "TABLE"])
def test_everything_comes_once(published, tmp_path, style):
    published.style = published.styles[style]
    assert counts(sync(tmp_path, published.config())) == (3, 0, 0, 0)
    assert published.downloaded(tmp_path) == published.expected
    published.requests.clear()
    assert counts(sync(tmp_path, published.config())) == (0, 3, 0, 0)
    assert [path for path, _, _ in published.requests] == ["baseline/", "updatefiles/"]


def test_a_part_of_it_can_be_asked_for(published, tmp_path):
    assert counts(sync(tmp_path, published.config(first=1))) == (2, 0, 0, 0)
    assert counts(sync(tmp_path / "u", published.config(only="updates"))) == (1, 0, 0, 0)
    assert counts(sync(tmp_path / "b", published.config(only="baseline"))) == (2, 0, 0, 0)
    assert set(published.downloaded(tmp_path / "u")) == {"updatefiles/pubmed25n0003.xml.gz"}


def test_a_new_file_and_a_changed_file_come(published, tmp_path):
    sync(tmp_path, published.config())
    published.publish("updatefiles", "pubmed25n0004.xml.gz", b"new")
    published.publish("baseline", "pubmed25n0001.xml.gz", b"changed", size="2.0M")
    assert counts(sync(tmp_path, published.config())) == (2, 2, 0, 0)
    assert published.downloaded(tmp_path)[FIRST] == b"changed"


def test_what_was_copied_by_hand_is_checked_once_and_kept(published, tmp_path):
    (tmp_path / "baseline").mkdir()
    for name in published.names["baseline"]:
        (tmp_path / "baseline" / name).write_bytes(published.content_of(name))
    (tmp_path / FIRST).write_bytes(b"spoilt")
    assert counts(sync(tmp_path, published.config())) == (2, 1, 0, 0)
    assert published.downloaded(tmp_path) == published.expected
    assert published.asked("baseline/pubmed25n0002.xml.gz") == []


def test_only_verify_finds_what_was_spoilt_behind_size_and_time(published, tmp_path):
    sync(tmp_path, published.config())
    stat = (tmp_path / FIRST).stat()
    (tmp_path / FIRST).write_bytes(bytes(stat.st_size))
    os.utime(tmp_path / FIRST, ns=(stat.st_mtime_ns, stat.st_mtime_ns))
    assert counts(sync(tmp_path, published.config())) == (0, 3, 0, 0)
    assert counts(sync(tmp_path, published.config(), verify=True)) == (1, 2, 0, 0)
    assert published.downloaded(tmp_path) == published.expected


def test_a_file_the_server_lists_no_longer_is_kept_and_reported(published, tmp_path):
    sync(tmp_path, published.config())
    del published.listed["updatefiles"]["pubmed25n0003.xml.gz"]
    published.publish("updatefiles", "pubmed25n0005.xml.gz", b"new")
    report = sync(tmp_path, published.config())
    assert report.unlisted == ("updatefiles/pubmed25n0003.xml.gz",)
    assert counts(report) == (1, 2, 1, 0)
    assert "updatefiles/pubmed25n0003.xml.gz" in published.downloaded(tmp_path)


def test_two_baselines_never_come_together(published, tmp_path):
    sync(tmp_path / "old", published.config())
    before = published.downloaded(tmp_path / "old")
    for kind in published.names:
        published.listed[kind].clear()
    published.publish("baseline", "pubmed26n0001.xml.gz", b"next")
    published.publish("updatefiles", "pubmed26n0002.xml.gz", b"next")
    with pytest.raises(InputError, match="holds the baseline pubmed25n, the server has pubmed26n"):
        sync(tmp_path / "old", published.config())
    published.publish("updatefiles", "pubmed25n0003.xml.gz", b"last")
    with pytest.raises(InputError, match="several baselines"):
        sync(tmp_path / "new", published.config())
    assert counts(sync(tmp_path / "new", published.config(only="baseline"))) == (1, 0, 0, 0)
    assert published.downloaded(tmp_path / "old") == before


def test_a_page_without_files_is_refused(server, tmp_path):
    server.always["baseline/"] = lambda handler: handler.answer(200, b"<html>Welcome!</html>")
    with pytest.raises(InputError, match="links to files such as"):
        sync(tmp_path, server.config())
    server.always["baseline/"] = server.status(404)
    with pytest.raises(InputError, match="HTTP status 404"):
        sync(tmp_path, server.config())


def test_a_folder_without_files_is_nothing_to_fetch(published, tmp_path, capsys):
    published.listed["updatefiles"].clear()
    report = sync(tmp_path, published.config())
    assert counts(report) == (2, 0, 0, 0)
    assert report.empty == (f"{published.url}updatefiles/",)
    command = ["pubmed", "sync", "--output", str(tmp_path), f"base_url={published.url}"]
    assert main([*command, "http.pause=0"]) == 0
    assert "updatefiles/: the server lists no file there" in capsys.readouterr().err
    published.listed["baseline"].clear()
    assert counts(sync(tmp_path, published.config())) == (0, 0, 2, 0)


def test_without_a_page_of_updates_the_way_to_the_baseline_is_told(published, tmp_path):
    for fault in (published.status(404), lambda handler: handler.answer(200, b"Welcome!")):
        published.always["updatefiles/"] = fault
        with pytest.raises(InputError, match="only=baseline does without it"):
            sync(tmp_path, published.config())
    assert counts(sync(tmp_path, published.config(only="baseline"))) == (2, 0, 0, 0)


def test_a_server_that_is_not_there_is_one_message(tmp_path):
    there = SyncConfig("http://127.0.0.1:9/", http=HttpConfig(pause=0, backoff=0, tries=2))
    with pytest.raises(InputError, match=r"127\.0\.0\.1:9/baseline/.*gave up after 2 tries"):
        sync(tmp_path, there)


def test_two_calls_do_not_work_on_one_folder(published, tmp_path):
    entered, leave = threading.Event(), threading.Event()

    def waits(handler):
        entered.set()
        leave.wait(5)
        handler.answer(200, published.page("baseline"))

    published.faults["baseline/"] = [waits]
    thread = threading.Thread(target=sync, args=(tmp_path, published.config(http={"timeout": 9})))
    thread.start()
    entered.wait(5)
    with pytest.raises(InputError, match="another process downloads"):
        sync(tmp_path, published.config())
    leave.set()
    thread.join()
    assert published.downloaded(tmp_path) == published.expected


def test_settings_that_cannot_be_meant_are_refused():
    with pytest.raises(InputError, match="base_url"):
        SyncConfig("ftp://ftp.ncbi.nlm.nih.gov/pubmed/")
    with pytest.raises(InputError, match="connections"):
        HttpConfig(connections=50)


def test_the_command_ends_with_1_where_a_file_did_not_come_and_says_what_to_do(
    published, tmp_path, capsys
):
    published.always[FIRST] = published.status(404)
    command = ["pubmed", "sync", "--output", str(tmp_path), f"base_url={published.url}"]
    command += ["http.pause=0", "http.backoff=0.01"]
    assert main(command) == 1
    error = capsys.readouterr().err
    assert "pubmed25n0001.xml.gz: HTTP status 404" in error
    assert "1 file did not come; run the same command again" in error
    published.always.clear()
    assert main(command) == 0
    assert main([*command, "http.tries=0"]) == 2
    assert published.downloaded(tmp_path) == published.expected
