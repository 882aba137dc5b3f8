import json
import random
import signal
import subprocess
import time

import pytest

from hybrid_ir.pubmed.sync import sync

FIRST = "baseline/pubmed25n0001.xml.gz"


def test_interrupted_in_a_silent_download_it_ends_at_once_and_goes_on_later(published, tmp_path):
    published.faults[FIRST] = [published.stall(100_000, 20)]
    process = subprocess.Popen(published.command(tmp_path), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not (tmp_path / "baseline" / f".{published.names['baseline'][0]}.partial").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=10)  # of the 20 seconds that the server is silent
    assert process.returncode == 130
    assert "interrupted; run the same command again" in error
    assert FIRST not in published.downloaded(tmp_path)
    sync(tmp_path, published.config())
    assert published.downloaded(tmp_path) == published.expected
    assert published.asked(FIRST)[1]["Range"] == "bytes=100000-"


@pytest.mark.slow
def test_killed_at_ten_random_points_it_ends_as_if_nothing_had_happened(published, tmp_path):
    for number in range(4, 8):
        name = f"pubmed25n000{number}.xml.gz"
        published.publish("updatefiles", name, published.content_of(name))
    sync(tmp_path / "calm", published.config())
    published.chunk_pause = 0.04  # 300,000 / 8,192 pieces of 0.04 s: 1.5 s a file
    command = published.command(tmp_path / "killed")
    chance = random.Random(7)
    for _ in range(10):
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(0.5 + chance.random() * 0.6)
        assert process.poll() is None  # it was killed, it had not ended
        process.send_signal(signal.SIGKILL)
        process.wait()
        whole = published.downloaded(tmp_path / "killed") if (tmp_path / "killed").exists() else {}
        for name, content in whole.items():
            if not name.partition("/")[2].startswith("."):
                assert content == published.files[name]
    published.chunk_pause = 0.0
    subprocess.run(command, check=True)
    assert published.downloaded(tmp_path / "killed") == published.downloaded(tmp_path / "calm")
    sums = [json.loads((tmp_path / name / "sums.json").read_text()) for name in ("calm", "killed")]
    calm, killed = ({name: mark["md5"] for name, mark in one.items()} for one in sums)
    assert calm == killed
