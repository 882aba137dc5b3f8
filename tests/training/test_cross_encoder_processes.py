"""Several processes, kill -9, and a full disk: each training in processes of its own."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from hybrid_ir.manifests import read_manifest

PROGRAM = ["-m", "training.cross_encoder"]
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]


def start(settings, *more, launcher=(), **how):
    return subprocess.Popen(
        [sys.executable, *launcher, *PROGRAM, *settings, *more],
        env={**os.environ, "OMP_NUM_THREADS": "1", "WANDB_MODE": "offline"},
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


def finish(process, code=0):
    _, said = process.communicate()
    assert process.returncode == code, said
    return said


def losses(folder):
    entries = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [entry["stage1/loss"] for entry in entries if "stage1/loss" in entry]


def facts(folder):
    return read_manifest(folder).info["stages"]["stage1"]


@pytest.mark.slow
def test_two_processes_train_what_one_does(settings, tmp_path):
    more = ["stage1.max_steps=20", "stage1.epochs=9"]
    two = [f"output={tmp_path / 'two'}", "processes=2"]
    finish(start(settings, *more, *two, launcher=TORCHRUN))
    finish(start(settings, *more, f"output={tmp_path / 'one'}"))
    assert facts(tmp_path / "two")["processes"] == 2  # whose parameters have been compared
    assert len(losses(tmp_path / "two")) == 20
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), abs=1e-4)


@pytest.mark.slow
def test_one_process_goes_on_from_what_two_have_begun(settings, tmp_path):
    more = ["stage1.epochs=4", "evaluate_every=5", "log_every=3"]
    finish(start(settings, *more, f"output={tmp_path / 'whole'}"))
    process = start(settings, *more, launcher=TORCHRUN)
    kill_at(process, tmp_path / ".model.partial" / "stage1" / "checkpoint-5" / "whole.json")
    said = finish(start(settings, *more))
    assert "written by 2 processes, now there are 1" in said
    assert losses(tmp_path / "model") == pytest.approx(losses(tmp_path / "whole"), abs=1e-4)


def kill_at(process, file):
    """Kill a process and those it has started as soon as there is a file."""
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    launcher = psutil.Process(process.pid)
    for one in [launcher, *launcher.children(recursive=True)]:
        one.kill()
    process.communicate()


def main():
    """Compare the parameters of two processes that the test has made different, or not."""
    import torch
    from accelerate import PartialState

    from training.agreement import agreed_fingerprint

    state = PartialState(cpu=True)
    model = torch.nn.Linear(2, 2)
    torch.nn.init.constant_(model.weight, 1.0 + state.process_index * float(sys.argv[1]))
    torch.nn.init.constant_(model.bias, 0.0)
    agreed_fingerprint(model)


@pytest.mark.slow
def test_processes_that_disagree_are_found():
    for difference, code in (("0", 0), ("1e-6", 1)):
        command = [sys.executable, *TORCHRUN, __file__, difference]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("2 different models" in done.stderr) == bool(code)


@pytest.mark.slow
def test_kill_9_and_resume_ends_with_the_same_parameters(settings, tmp_path):
    more = ["stage1.epochs=6", "evaluate_every=7", "dropout=0.1", "micro_batch=4"]
    finish(start(settings, *more, f"output={tmp_path / 'whole'}"))
    seed = random.randrange(10**6)
    chance = random.Random(seed)
    partial, kills = tmp_path / ".killed.partial", 0
    for step in (7, 21):
        process = start(settings, *more, f"output={tmp_path / 'killed'}")
        while process.poll() is None:
            if (partial / "stage1" / f"checkpoint-{step}" / "model.safetensors").exists():
                time.sleep(chance.random())
                process.kill()
            time.sleep(0.01)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
    said = finish(start(settings, *more, f"output={tmp_path / 'killed'}"))
    assert kills == 2, "the training was quicker than the test"
    assert "going on from step" in said
    for key in ("parameters", "steps", "loss"):
        assert facts(tmp_path / "killed")[key] == facts(tmp_path / "whole")[key], (key, seed)
    assert losses(tmp_path / "killed") == losses(tmp_path / "whole"), seed


@pytest.mark.slow
def test_a_damaged_checkpoint_is_passed_over(settings, tmp_path):
    more = ["stage1.epochs=3", "evaluate_every=5"]
    finish(start(settings, *more, f"output={tmp_path / 'whole'}"))
    process = start(settings, *more)
    partial = tmp_path / ".model.partial" / "stage1"
    while not (partial / "checkpoint-20" / "whole.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.communicate()
    newest = max(partial.glob("checkpoint-*/whole.json"), key=lambda path: path.stat().st_mtime)
    weights = newest.with_name("model.safetensors")
    weights.write_bytes(weights.read_bytes()[:1000])
    said = finish(start(settings, *more))
    assert "model.safetensors is damaged): trying the one before" in said
    assert facts(tmp_path / "model")["parameters"] == facts(tmp_path / "whole")["parameters"]


@pytest.mark.slow
def test_a_full_disk_is_said_and_nothing_half_written_counts(settings, tmp_path):
    """A limit on the size of files stands in for the disk: the optimizer's file is the largest."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (25 << 20, 25 << 20))

    said = finish(start(settings, "evaluate_every=5", preexec_fn=limit), code=2)
    assert "the checkpoint could not be written" in said
    assert "Traceback" not in said
    partial = tmp_path / ".model.partial" / "stage1"
    assert list(partial.glob("checkpoint-*")) == []
    finish(start(settings, "evaluate_every=5"))


@pytest.mark.slow
def test_wandb_offline_has_no_text_and_does_not_name_the_machine(settings, tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_API_KEY", "secret" * 7)
    finish(start(settings, "tracking.wandb=true", "stage1.max_steps=3"))
    (run,) = tmp_path.glob("wandb/offline-run-*")
    every = b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert b"What is known about" not in every
    assert b"secret" not in every
    content = b"".join(
        path.read_bytes() for path in [*run.glob("*.wandb"), *run.glob("files/**/*.*")]
    )  # what goes up; logs lie beside it
    assert b"stage1/loss" in content
    assert b"learning_rate" in content
    assert b"hidden" in content  # where the machine's name would be
    for private in (tmp_path, Path.home()):
        assert str(private).encode() not in content


if __name__ == "__main__":
    main()
