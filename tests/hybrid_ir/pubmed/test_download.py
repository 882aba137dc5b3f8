"""What a server can do wrong while a file comes."""

import hashlib

import pytest

from hybrid_ir.pubmed.sync import sync

FIRST = "baseline/pubmed25n0001.xml.gz"


def counts(report):
    return report.downloaded, report.up_to_date, len(report.unlisted), len(report.faults)


@pytest.mark.parametrize("validators", ["etag", "date"])
def test_a_cut_download_goes_on_where_it_was(published, tmp_path, validators):
    published.validators = validators
    published.faults[FIRST] = [published.cut(100_000), published.cut(50_000)]
    assert counts(sync(tmp_path, published.config())) == (3, 0, 0, 0)
    assert published.downloaded(tmp_path) == published.expected
    ranges = [headers.get("Range") for headers in published.asked(FIRST)]
    assert ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_without_a_version_to_name_it_starts_again(published, tmp_path):
    published.validators = "none"
    published.faults[FIRST] = [published.cut(100_000)]
    sync(tmp_path, published.config())
    assert published.downloaded(tmp_path) == published.expected
    assert [headers.get("Range") for headers in published.asked(FIRST)] == [None, None]


def test_a_server_that_ignores_ranges_sends_all_again(published, tmp_path):
    published.ranges = False
    published.faults[FIRST] = [published.cut(100_000)]
    assert counts(sync(tmp_path, published.config())) == (3, 0, 0, 0)
    assert published.downloaded(tmp_path) == published.expected


def test_bytes_that_came_count_as_progress_however_often_it_is_cut(published, tmp_path):
    published.always[FIRST] = published.cut(40_000)  # 300,000 / 40,000: the eighth try is the last
    assert counts(sync(tmp_path, published.config(http={"tries": 2}))) == (3, 0, 0, 0)
    assert len(published.asked(FIRST)) == 8
    published.ranges = False
    published.publish("baseline", "pubmed25n0001.xml.gz", published.content_of("other"), size="3M")
    report = sync(tmp_path, published.config(http={"tries": 2}))
    assert counts(report) == (0, 2, 0, 1)
    assert "gave up after 2 tries" in report.faults[0]
    assert published.downloaded(tmp_path)[FIRST] == published.content_of("pubmed25n0001.xml.gz")


def test_a_file_that_changes_between_two_tries_comes_in_its_new_version(published, tmp_path):
    new = published.content_of("new")

    def changes(handler):
        handler.file(published.content_of("pubmed25n0001.xml.gz"), cut=100_000)
        published.publish("baseline", "pubmed25n0001.xml.gz", new)

    published.faults[FIRST] = [changes]
    assert counts(sync(tmp_path, published.config())) == (3, 0, 0, 0)
    assert published.downloaded(tmp_path)[FIRST] == new


def test_a_wrong_sum_is_tried_again_then_named_and_the_others_come(published, tmp_path):
    published.faults[FIRST] = [published.sends(b"wrong")]
    assert counts(sync(tmp_path / "once", published.config())) == (3, 0, 0, 0)
    published.always[FIRST] = published.sends(b"wrong")
    report = sync(tmp_path / "always", published.config())
    assert counts(report) == (2, 0, 0, 1)
    expected = hashlib.md5(published.content_of("pubmed25n0001.xml.gz")).hexdigest()
    assert f"expected MD5 {expected}" in report.faults[0]
    assert "in 3 downloads" in report.faults[0]
    assert FIRST not in published.downloaded(tmp_path / "always")
    del published.always[FIRST]
    assert counts(sync(tmp_path / "always", published.config())) == (1, 2, 0, 0)
    assert published.downloaded(tmp_path / "always") == published.expected


@pytest.mark.parametrize(
    ("missing", "part"),
    [(FIRST, "pubmed25n0001.xml.gz: HTTP status 404"), (f"{FIRST}.md5", "without its sum")],
)
def test_a_stale_list_is_named_and_the_others_come(published, tmp_path, missing, part):
    del published.files[missing]
    report = sync(tmp_path, published.config())
    assert counts(report) == (2, 0, 0, 1)
    assert part in report.faults[0]
    assert len(published.asked(missing)) == 1  # what is not there is not asked for again


def test_a_sum_of_another_file_is_no_sum(published, tmp_path):
    published.files[f"{FIRST}.md5"] = published.files["baseline/pubmed25n0002.xml.gz.md5"]
    report = sync(tmp_path, published.config())
    assert "expected the MD5 sum of pubmed25n0001.xml.gz" in report.faults[0]


def test_a_busy_server_is_given_the_time_it_asks_for_by_all_connections(published, tmp_path):
    published.faults[f"{FIRST}.md5"] = [published.status(429, Retry_After="1")]
    assert counts(sync(tmp_path, published.config())) == (3, 0, 0, 0)
    times = [at for _, _, at in published.requests]
    busy = next(at for path, _, at in published.requests if path == f"{FIRST}.md5")
    # the other connection may have had a request on its way, none starts after that
    assert not [at for at in times if busy + 0.5 < at < busy + 0.95]
    assert max(times) >= busy + 1


def test_a_server_that_asks_for_too_much_time_is_left_alone(published, tmp_path):
    published.always[f"{FIRST}.md5"] = published.status(503, Retry_After="3600")
    report = sync(tmp_path, published.config())
    assert counts(report) == (2, 0, 0, 1)
    assert "asks to wait 3,600 s" in report.faults[0]


def test_errors_that_may_pass_are_tried_again(published, tmp_path):
    published.faults[FIRST] = [published.status(500), published.hang(0.6), published.status(502)]
    report = sync(tmp_path, published.config(http={"timeout": 0.3}))
    assert counts(report) == (3, 0, 0, 0)
    assert len(published.asked(FIRST)) == 4


def test_a_server_that_hangs_is_given_up(published, tmp_path):
    published.always[FIRST] = published.hang(0.5)
    report = sync(tmp_path, published.config(http={"timeout": 0.2, "tries": 2}))
    assert counts(report) == (2, 0, 0, 1)
    assert "gave up after 2 tries" in report.faults[0]


def test_errors_that_will_not_pass_are_not_tried_again(published, tmp_path):
    published.always[FIRST] = published.status(403)
    assert "HTTP status 403" in sync(tmp_path, published.config()).faults[0]
    assert len(published.asked(FIRST)) == 1


def test_a_file_that_moved_is_followed(published, tmp_path):
    published.files["moved"] = published.content_of("pubmed25n0001.xml.gz")
    published.always[FIRST] = published.status(302, Location=f"{published.url}moved")
    published.faults["moved"] = [published.cut(100_000)]
    assert counts(sync(tmp_path, published.config())) == (3, 0, 0, 0)
    assert published.downloaded(tmp_path) == published.expected
    assert published.asked("moved")[1]["Range"] == "bytes=100000-"


def test_requests_are_few_at_a_time_paced_and_signed(published, tmp_path):
    http = {"pause": 0.05, "contact": "me@example.org"}
    sync(tmp_path, published.config(http=http))
    times = [at for _, _, at in published.requests]
    assert len(times) == 2 + 2 * 3  # two pages; a sum and a file each
    assert times[-1] - times[0] >= 5 * 0.05  # seven pauses, two of them left to chance
    agents = {headers["User-Agent"] for _, headers, _ in published.requests}
    (agent,) = agents
    assert agent.startswith("hybrid-ir/")
    assert "me@example.org" in agent
