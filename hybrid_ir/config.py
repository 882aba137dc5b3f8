"""Settings: a dataclass's defaults, then a YAML file, then ``key=value`` from the command line.

This module knows no stage: the caller hands in the dataclass.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import yaml
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from hybrid_ir.errors import InputError

Config = TypeVar("Config")

Place: TypeAlias = tuple[str, ...]
"""The keys from the top to a value."""


def load_config(
    schema: type[Config], path: Path | None = None, overrides: Sequence[str] = ()
) -> Config:
    """Build a configuration.

    Args:
        schema: A dataclass whose fields have types and, where they are optional, defaults.
        path: A YAML file, or None. Values may refer to others as ``${key}``.
        overrides: ``key=value`` with dotted keys and values in YAML. In a dictionary of dataclasses
            ``key.entry=null`` drops an entry of the file.

    Raises:
        InputError: an unknown key (with the near match), a wrong type, a missing value; all of
            them in one message.
    """
    loaded, given = _given(path, overrides)
    given = _without_dropped(schema, given, loaded)
    try:
        merged = OmegaConf.merge(OmegaConf.structured(schema), given)
    except OmegaConfBaseException as error:
        if faults := list(_faults(schema, given, path, overrides)):
            raise InputError.of_all("this configuration cannot be used:", faults) from error
        raise InputError(f"this configuration cannot be used: {_first_line(error)}") from error
    try:
        if missing := sorted(OmegaConf.missing_keys(merged)):
            raise InputError(
                f"this configuration needs values for: {', '.join(missing)} (as KEY=VALUE, or from"
                " a file by --config: see those in configs/)"
            )
        return typing.cast(Config, OmegaConf.to_object(merged))
    except OmegaConfBaseException as error:
        raise InputError(f"this configuration cannot be used: {_first_line(error)}") from error


def save_config(config: Any, path: Path) -> None:  # noqa: ANN401 (any dataclass)
    """Write a configuration as YAML that :func:`load_config` reads back."""
    from hybrid_ir.files import writing

    with writing(path) as file:
        yaml.safe_dump(plain(config), file, sort_keys=False, allow_unicode=True)


def plain(config: Any) -> dict[str, Any]:  # noqa: ANN401 (any dataclass)
    """Give a configuration as nested dictionaries, lists, strings and numbers."""

    def convert(value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, Path):
            return str(value)
        if isinstance(value, Mapping):
            return {key: convert(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [convert(item) for item in value]
        return value

    return {key: convert(value) for key, value in dataclasses.asdict(config).items()}


def keys_of(schema: type, prefix: str = "") -> Iterator[str]:
    """Give every dotted key of a configuration."""
    for name, hint in typing.get_type_hints(schema).items():
        nested = _dataclass_in(hint)
        if nested:
            yield from keys_of(nested, f"{prefix}{name}.")
        else:
            yield prefix + name


def _given(path: Path | None, overrides: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give what the file holds, and that with the overrides in it."""
    for item in overrides:
        if "=" not in item:
            raise InputError(f"expected key=value, got {item!r}")
    try:
        loaded = OmegaConf.load(path) if path else OmegaConf.create()
        if not isinstance(loaded, DictConfig):
            raise InputError(f"{path}: expected keys and values, got a list")
        given = OmegaConf.merge(loaded, OmegaConf.from_dotlist(list(overrides)))
    except (yaml.YAMLError, OmegaConfBaseException, UnicodeDecodeError) as error:
        raise InputError(f"{path or 'command line'}: not YAML: {error}") from error
    except TypeError as error:  # a key below what is a list in the file
        raise InputError(
            f"{path}: the keys of {' '.join(overrides)} do not fit into it: {error}"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: expected a YAML file: {error.strerror or error}") from error
    in_file = typing.cast(dict[str, Any], OmegaConf.to_container(loaded))
    return in_file, typing.cast(dict[str, Any], OmegaConf.to_container(given))


def _faults(
    schema: type, given: Mapping[str, Any], path: Path | None, overrides: Sequence[str]
) -> Iterator[str]:
    """Look at each value on its own, and say what is wrong with it and where it came from."""
    command_line = {item.partition("=")[0] for item in overrides}
    for place, value in _leaves(schema, given):
        source = "command line" if ".".join(place) in command_line or path is None else str(path)
        if fault := _unknown(schema, place) or _fault_of(schema, place, value):
            yield f"{source}: {fault}"


def _without_dropped(
    schema: type, given: Mapping[str, Any], loaded: Mapping[str, Any], prefix: str = ""
) -> dict[str, Any]:
    """Leave entries that are null out of dictionaries of dataclasses, however deep they lie.

    Raises:
        InputError: there is no such entry to be dropped.
    """
    hints = typing.get_type_hints(schema)
    kept = dict(given)
    for name, entries in given.items():
        hint, there = hints.get(str(name)), loaded.get(name)
        there = there if isinstance(there, Mapping) else {}
        if isinstance(entries, Mapping) and (nested := _dataclass_in(hint)):
            kept[name] = _without_dropped(nested, entries, there, f"{prefix}{name}.")
        elif isinstance(entries, Mapping) and _entry_class(hint):
            for key, entry in entries.items():
                if entry is None and key not in there:
                    known = ", ".join(map(str, there)) or "none"
                    raise InputError(f"{prefix}{name}.{key}=null drops nothing: there are {known}")
            kept[name] = {key: entry for key, entry in entries.items() if entry is not None}
    return kept


def _entry_class(hint: Any) -> type | None:  # noqa: ANN401 (any type hint)
    """Give SomeDataclass for ``dict[str, SomeDataclass]``."""
    if typing.get_origin(hint) is not dict:
        return None
    return _dataclass_in(typing.get_args(hint)[1])


def _leaves(
    schema: type, given: Mapping[str, Any], above: Place = ()
) -> Iterator[tuple[Place, Any]]:
    """Give each value with its keys; dataclasses, in dictionaries, too, are taken apart."""
    hints = typing.get_type_hints(schema)
    for name, value in given.items():
        hint, place = hints.get(str(name)), (*above, str(name))
        nested, entry = _dataclass_in(hint), _entry_class(hint)
        if nested and isinstance(value, Mapping):
            yield from _leaves(nested, value, place)
        elif entry and isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(item, Mapping):
                    yield from _leaves(entry, item, (*place, str(key)))
                else:
                    yield (*place, str(key)), item
        else:
            yield place, value


def _dataclass_in(hint: Any) -> type | None:  # noqa: ANN401 (any type hint)
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    for option in options:
        if isinstance(option, type) and dataclasses.is_dataclass(option):
            return option
    return None


def _unknown(schema: type, place: Place) -> str | None:
    """Say that there is no such key, and which there are, from the first that is wrong on."""
    at: type | None = schema
    entries: type | None = None  # what the entries of a dictionary are
    for depth, name in enumerate(place):
        if at:
            hints = typing.get_type_hints(at)
            if name not in hints:
                return _no_such_key(at, place, depth)
            at, entries = _dataclass_in(hints[name]), _entry_class(hints[name])
        else:
            at, entries = entries, None
    return None


def _no_such_key(at: type, place: Place, depth: int) -> str:
    prefix = "".join(f"{name}." for name in place[:depth])
    key, known = ".".join(place), sorted(keys_of(at, prefix))
    near = get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key {key!r}; {hint}known: {', '.join(known)}"


def _fault_of(schema: type, place: Place, value: Any) -> str | None:  # noqa: ANN401
    """Say what is wrong with one value, if anything."""
    nested = value
    for name in reversed(place):
        nested = {name: nested}
    try:
        OmegaConf.merge(OmegaConf.structured(schema), nested)
    except OmegaConfBaseException as error:
        return f"{'.'.join(place)}: {_first_line(error).replace('$VALUE', str(value))}"
    return None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
