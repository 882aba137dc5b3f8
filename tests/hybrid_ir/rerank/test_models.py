import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hybrid_ir.errors import InputError
from hybrid_ir.rerank.models import identity_of, model_folder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(backbone, tmp_path):
    """A model's folder that a test may change."""
    return shutil.copytree(backbone, tmp_path / "model")


def test_a_folder_is_what_it_is(folder, monkeypatch):
    assert model_folder(str(folder), "") == folder
    monkeypatch.setenv("HOME", str(folder.parent))
    assert model_folder("~/model", "") == folder


def test_what_is_no_model_is_refused(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder.parent / "hub"))
    for name, words in (
        (
            "/no/such/folder",
            r"expected a folder or a hub name, /no/such/folder is no folder: train",
        ),
        ("./nowhere", r"\./nowhere is no folder: "),
        ("model/config.json", r"model/config.json is a file: name its folder"),
        ("no/model", r"got 'no/model' \(.+\); .* downloaded before, or be a folder"),
        ("a blank", r"got 'a blank' \(.+\); "),
    ):
        with pytest.raises(InputError, match=words) as raised:
            model_folder(name, "")
        assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="got 'no/model' at revision refs/pr/1 "):
        model_folder("no/model", "refs/pr/1")


def test_all_that_is_missing_is_said_at_once(folder):
    for path in folder.glob("*token*"):
        path.unlink()
    with pytest.raises(InputError, match=r"cannot be used: no tokenizer \(tokenizer.json, .*save"):
        model_folder(str(folder), "")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    (folder / "config.json").unlink()
    for path in folder.glob("modules.json"):
        path.unlink()
    with pytest.raises(InputError, match=r"no config.json.*no weights.*refs/pr/.*no tokenizer"):
        model_folder(str(folder), "")


def hub_cache(backbone, cache):
    """Lay a model out as the hub's library keeps what it downloaded."""
    repository = cache / "models--own--model"
    shutil.copytree(backbone, repository / "snapshots" / COMMIT)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)
    return repository / "snapshots" / COMMIT


def test_without_a_network_what_was_downloaded_before_is_found(backbone, tmp_path, monkeypatch):
    snapshot = hub_cache(backbone, tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert model_folder("own/model", "") == snapshot
    assert model_folder("own/model", snapshot.name) == snapshot
    assert identity_of(snapshot) == identity_of(backbone)
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(InputError, match=rf"the model own/model \(.*{snapshot.name}\) cannot be"):
        model_folder("own/model", "")


@contextmanager
def hub_of(files):
    """Serve one model as the hub does; gives the address and the names of files asked for."""
    asked = []

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            path = self.path.partition("?")[0]
            if "/resolve/" in path:
                name = path.partition("/resolve/")[2].partition("/")[2]
                asked.append(name)
                self.answer(files[name])
            elif "/tree/" in path:
                tree = [
                    {"type": "file", "path": name, "size": len(content), "oid": "0" * 40}
                    for name, content in files.items()
                ]
                self.answer(json.dumps(tree).encode(), "application/json")
            else:
                siblings = [{"rfilename": name} for name in files]
                info = {"_id": "1", "id": "own/model", "sha": COMMIT, "siblings": siblings}
                self.answer(json.dumps(info).encode(), "application/json")

        def answer(self, content, kind="application/octet-stream"):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()
            thread.join()


FETCH = """
from hybrid_ir.rerank.models import model_folder
print(model_folder("own/model", ""))
"""


def test_from_the_hub_no_pickle_comes(tmp_path):
    wanted = {
        "config.json",
        "model.safetensors",
        "vocab.txt",
        "spiece.model",
        "1_Pooling/config.json",
    }
    others = {"pytorch_model.bin", "heads.pt", "model.pkl", "README.md", "onnx/model.onnx", "x.py"}
    with hub_of({name: name.encode() for name in sorted(wanted | others)}) as (address, asked):
        here = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "0"}
        output = subprocess.check_output(
            [sys.executable, "-c", FETCH], env=os.environ | here, text=True
        )
    folder = Path(output.strip())
    assert folder.name == COMMIT
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert found == set(asked) == wanted


def test_the_identity_is_that_of_the_content_not_of_the_place(folder, backbone):
    assert identity_of(folder) == identity_of(backbone)
    assert len(identity_of(folder)) == 64


@pytest.mark.parametrize(
    "name",
    ["model.safetensors", "config.json", "tokenizer.json", "tokenizer_config.json"],
)
def test_what_decides_scores_decides_the_identity(folder, name):
    before = identity_of(folder)
    content = bytearray((folder / name).read_bytes())
    content[-2] ^= 1
    (folder / name).write_bytes(content)
    assert identity_of(folder) != before


def test_files_of_modules_and_shards_count_by_name_and_content(folder):
    seen = {identity_of(folder)}
    for name, content in (
        ("1_Pooling/config.json", "{}"),
        ("2_Dense/model.safetensors", ""),
        ("model-00001-of-00002.safetensors", "1"),
        ("model-00002-of-00002.safetensors", "1"),
        ("vocab.txt", "a"),
        ("spiece.model", "a"),
        ("chat_template.jinja", "a"),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
        seen.add(identity_of(folder))
    (folder / "1_Pooling").rename(folder / "1_Other")
    seen.add(identity_of(folder))
    assert len(seen) == 1 + 7 + 1


def test_what_decides_no_score_does_not_count(folder):
    before = identity_of(folder)
    for name in (
        "README.md",
        "metrics.jsonl",
        "optimizer.pt",
        "training_args.bin",
        "trainer_state.json",
        "checkpoint-500/model.safetensors",
        ".cache/huggingface/download/x.json",
        ".git/config.json",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("changed")
    assert identity_of(folder) == before
