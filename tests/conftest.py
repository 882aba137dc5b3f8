"""Fixtures of all tests, and the rule for tests that need the shared data folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from provider_server import ProviderServer, running

# no deadline: tests never assert times; in CI the same examples each time
hypothesis.settings.register_profile(
    "project", deadline=None, derandomize=bool(os.environ.get("CI"))
)
hypothesis.settings.load_profile("project")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared data folder; tests that use it are marked ``shared``."""
    return SHARED


@pytest.fixture(scope="session")
def mini() -> Path:
    """The example collection that lies in the repository."""
    return ROOT / "examples" / "bioasq-mini"


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    """A language model's server for the test alone; what it is to do: ``provider_server.Act``."""
    with running(ProviderServer()) as server:
        yield server


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a developer's own keys, proxies and servers out of the tests."""
    for name in (
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the marked tests where the folder is missing; never in CI."""
    if SHARED.is_dir():
        return
    for item in items:
        if item.get_closest_marker("shared"):
            item.add_marker(
                pytest.mark.skip(reason="the shared data folder is not beside the checkout")
            )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests were skipped for want of the shared folder."""
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "shared" in report.keywords
    ]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests skipped: they need {SHARED}")


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session: pytest.Session) -> Iterator[None]:
    """Fail the session in CI when the shared folder is missing: nothing is skipped there."""
    if os.environ.get("CI") and not SHARED.is_dir():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    yield
