"""The server that other tests rely on: its two protocols through the providers' own SDKs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2
import openai
import pytest
from provider_server import Act, ProviderServer


def _ask(provider: ProviderServer, text: str, **more: object) -> openai.types.chat.ChatCompletion:
    with openai.OpenAI(api_key="k", base_url=provider.openai_url, max_retries=0) as client:
        return client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": text}], **more
        )


def test_scripts_are_taken_in_turn_and_then_used_up(provider: ProviderServer) -> None:
    provider.script("q1", Act(text="one"), Act(text="two"))
    replies = [_ask(provider, text).choices[0].message.content for text in ("q1", "q2", "q1", "q1")]
    assert replies == ["one", "A reply to: q2", "two", "A reply to: q1"]
    assert (provider.arrived, provider.count("q1"), provider.in_flight) == (4, 3, 0)


def test_a_script_may_stay_forever(provider: ProviderServer) -> None:
    provider.script("", Act("status", status=503), Act(text="two"), forever=True)
    with pytest.raises(openai.InternalServerError):
        _ask(provider, "x")
    assert {_ask(provider, "x").choices[0].message.content for _ in range(3)} == {"two"}


def test_a_connection_is_cut(provider: ProviderServer) -> None:
    provider.script("", Act("cut"), Act("reset"))
    for _ in range(2):
        with pytest.raises(httpx2.HTTPError):
            httpx2.post(
                f"{provider.openai_url}/chat/completions", json={"model": "m", "messages": []}
            )


def test_it_runs_as_a_program_and_counts(provider: ProviderServer) -> None:
    program = Path(__file__).with_name("provider_server.py")
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = process.stdout.readline().strip()
        httpx2.post(f"{url}/v1/chat/completions", json={"model": "m", "messages": []})
        stats = httpx2.get(f"{url}/stats").json()
        process.kill()
    assert stats == {"calls": 1, "most_in_flight": 1}
