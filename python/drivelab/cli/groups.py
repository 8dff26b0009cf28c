"""Groups of options: a dataclass whose fields are options, and which a verb takes as one parameter.

typer makes one option of each parameter. `grouped` shows it the fields of each group in the group's place, and passes
the groups on. Groups may hold groups.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def grouped(verb: Callable[..., int]) -> Callable[..., int]:
    """The verb, whose parameters are keywords, as typer reads it."""
    own = signature(verb, eval_str=True).parameters.values()

    @functools.wraps(verb)
    def with_groups(**options: object) -> int:
        return verb(**{each.name: _taken(each, options) for each in own})

    shown = Signature([option for each in own for option in _options(each)])
    with_groups.__signature__ = shown  # type: ignore[attr-defined]
    return with_groups


def given(group: Any) -> Iterator[str]:  # noqa: ANN401 - any dataclass
    """The options of a group that were given, as they are typed."""
    for field in dataclasses.fields(group):
        value = getattr(group, field.name)
        if dataclasses.is_dataclass(value):
            yield from given(value)
        elif value != _default(field):
            yield f"--{field.name.replace('_', '-')}"


def values(*groups: Any) -> dict[str, Any]:  # noqa: ANN401 - dataclasses
    """The options of groups by their names."""
    found = dict[str, Any]()
    for group in groups:
        for field in dataclasses.fields(group):
            value = getattr(group, field.name)
            found |= values(value) if dataclasses.is_dataclass(value) else {field.name: value}
    return found


def _default(field: dataclasses.Field[Any]) -> Any:  # noqa: ANN401 - of any option
    """The value of an option that is not given."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is dataclasses.MISSING else field.default


def _options(parameter: Parameter) -> Iterator[Parameter]:
    """The options that a parameter stands for."""
    if not _is_group(parameter.annotation):
        yield parameter
        return
    for field in _fields(parameter.annotation):
        yield from _options(field)


def _taken(parameter: Parameter, options: dict[str, object]) -> Any:  # noqa: ANN401 - of any option
    """The value of an option, or a group with the values of its options."""
    group = parameter.annotation
    if not _is_group(group):
        return options[parameter.name]
    return group(**{field.name: _taken(field, options) for field in _fields(group)})


def _is_group(annotation: Any) -> bool:  # noqa: ANN401 - any type
    return dataclasses.is_dataclass(annotation)


@functools.cache
def _fields(group: Any) -> list[Parameter]:  # noqa: ANN401 - a dataclass
    """The fields of a group as parameters."""
    types = get_type_hints(group, include_extras=True)
    found = []
    for field in dataclasses.fields(group):
        default, annotation = _default(field), types[field.name]
        found.append(Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return found
