import argparse

import pytest

from hybrid_ir.cli import _arguments, _parser, main
from hybrid_ir.cli.arguments import FLAGS, is_setting, part_settings


def leaves(parser, name=()):
    """Give (words, parser) of every command."""
    groups = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    for group in groups:
        for word, inner in group.choices.items():
            yield from leaves(inner, (*name, word))
    if not groups:
        yield name, parser


COMMANDS = dict(leaves(_parser()))
WITH_SETTINGS = [
    name for name, parser in COMMANDS.items() if any(a.dest == "settings" for a in parser._actions)
]


def needed(parser):
    """Give what a command cannot do without: options with a value, then files."""
    options, files = [], []
    for action in parser._actions:
        if action.required and action.option_strings:
            options += [action.option_strings[0], "A" if action.choices is None else "x"]
        elif action.required and not action.option_strings and action.dest != "settings":
            files.append("file")
    for group in parser._mutually_exclusive_groups:
        if group.required:
            options += [group._group_actions[0].option_strings[0], "x"]
    return options, files


def test_every_flag_is_known():
    flags = {
        option
        for parser in (_parser(), *COMMANDS.values())
        for action in parser._actions
        if action.nargs == 0
        for option in action.option_strings
    }
    assert flags == set(FLAGS)


def test_the_commands_that_take_settings():
    taking = {" ".join(name) for name in WITH_SETTINGS}
    assert {"index", "compare", "pubmed convert", "pubmed update", "generate pseudo"} < taking


@pytest.mark.parametrize("name", WITH_SETTINGS, ids=" ".join)
def test_settings_stand_anywhere(name):
    parser = COMMANDS[name]
    options, files = needed(parser)
    flag = next(o for a in parser._actions if a.nargs == 0 for o in a.option_strings if o != "-h"
                and o != "--help")  # fmt: skip
    for command in (
        [*options, *files, "a.b=1", "c=[x, y]"],
        ["a.b=1", *options, *files, "c=[x, y]"],
        [*files, *options, "a.b=1", flag, "c=[x, y]"],
        ["a.b=1", flag, "c=[x, y]", *files, *options],
        [flag, "a.b=1", *options, "c=[x, y]", *files],
        [*files, "a.b=1", "--config", "x.yaml", "c=[x, y]", *options],
    ):
        arguments = _arguments([*name, *command])
        assert arguments.settings == ["a.b=1", "c=[x, y]"]


def test_settings_end_the_values_of_an_option_that_takes_several():
    command = ["index", "--output", "o", "--documents", "a.jsonl", "b.jsonl", "fields=[title]"]
    arguments = _arguments(command)
    assert [str(path) for path in arguments.documents] == ["a.jsonl", "b.jsonl"]
    assert arguments.settings == ["fields=[title]"]
    command = ["compare", "a", "b", "--cutoffs", "5", "seed=1", "--measures", "recall@5", "moved=3"]
    arguments = _arguments(command)
    assert (arguments.cutoffs, arguments.measures) == ([5], ["recall@5"])
    assert arguments.settings == ["seed=1", "moved=3"]


def test_files_paths_and_values_of_options_are_no_settings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k1=0.9.trec").touch()
    argv = ["k1=0.9.trec", "runs/k1=2.trec", "--output", "b=1.trec", "--name=a=b", "b=2", "=", "c="]
    assert part_settings(argv) == (["b=2", "c="], [one for one in argv if one not in ("b=2", "c=")])
    assert is_setting("text=" + "long " * 2_000)


def test_a_command_without_settings_refuses_them(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["convert", "golden-to-qrels", "x", "--output", "y", "k1=1"])
    assert ended.value.code == 2
    assert "this command has no settings: k1=1" in capsys.readouterr().err
