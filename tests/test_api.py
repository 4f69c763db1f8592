"""The public names: each says what it is, what its arrays look like, what it raises; the main ones show it at work."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from types import ModuleType
from typing import Any

import pytest

import ncirl

PACKAGES = (
    "ncirl",
    "ncirl.baselines",
    "ncirl.defence",
    "ncirl.evaluation",
    "ncirl.formats",
    "ncirl.games",
    "ncirl.importers",
    "ncirl.reports.pictures",
    "ncirl.attack_graphs.reductions",
    "ncirl.reports",
    "ncirl.strategies",
)
ARRAY = re.compile(r"\b(?:\w*Array|ndarray|NDArray)\b(?!Like)")
SHAPE = re.compile(r"shape|\[[a-zθ]|\([A-ZΘ][^)]*,|matri|vector|per intent|of each intent|for every θ", re.IGNORECASE)
SECTION = "^{name}\n-+$"
GENERATED = "<string>"  # where a dataclass's methods come from
WITHOUT_EXAMPLE = (ModuleType, str)  # a package has its own page, the version is what it is


def public() -> Iterator[Any]:
    met: set[int] = set()
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if id(value) not in met:
                met.add(id(value))
                yield pytest.param(value, id=f"{package}.{name}")


PUBLIC = list(public())
CALLABLE = [case for case in PUBLIC if callable(case.values[0])]
MAIN = [case for case in PUBLIC if case.id.count(".") == 1 and not isinstance(case.values[0], WITHOUT_EXAMPLE)]


def told(value: Any) -> str:
    return inspect.getdoc(value) or ""


def has_section(value: Any, name: str) -> bool:
    return re.search(SECTION.format(name=name), told(value), re.MULTILINE) is not None


def makers(value: Any) -> list[Callable[..., Any]]:
    """Find the code that a call runs first."""
    if not inspect.isclass(value):
        return [value]
    if getattr(value, "_is_protocol", False):
        return []  # nobody calls it, and its methods are what others are to have
    own = [value.__dict__.get(name) for name in ("__init__", "__post_init__")]
    return [made for made in own if inspect.isfunction(made) and made.__code__.co_filename != GENERATED]


def raised(function: Callable[..., Any]) -> set[str]:
    """Find the exceptions that a function's own body raises by name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    calls = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
    return {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}


def array_parts(value: Any) -> list[str]:
    """Name the parameters or fields that are arrays."""
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value) if field.repr and ARRAY.search(str(field.type))]
    if isinstance(value, type) and issubclass(value, Enum | BaseException):
        return []
    parameters = inspect.signature(value).parameters.values()
    return [p.name for p in parameters if isinstance(p.annotation, str) and ARRAY.search(p.annotation)]


@pytest.mark.parametrize("value", PUBLIC)
def test_a_public_name_says_what_it_is(value: Any) -> None:
    said = told(value)
    assert said
    assert said != told(type(value)) or isinstance(value, ncirl.Stage | str | dict), "inherited from its type"


@pytest.mark.parametrize("value", CALLABLE)
def test_arrays_have_their_shape(value: Any) -> None:
    if parts := array_parts(value):
        assert SHAPE.search(told(value)), f"{parts}: say their shape"
        assert all(re.search(rf"\b{part}\b", told(value)) for part in parts), parts


@pytest.mark.parametrize("value", CALLABLE)
def test_what_is_raised_is_said(value: Any) -> None:
    for name in set().union(*map(raised, makers(value))):
        assert has_section(value, "Raises"), f"raises {name}"
        assert name in told(value)


@pytest.mark.parametrize("value", [case for case in MAIN if callable(case.values[0])])
def test_what_is_told_together_has_one_default(value: Any) -> None:
    """The reference prints the default of the first name of ``a, b : int`` for all of them."""
    if inspect.isclass(value) and (issubclass(value, Enum) or value.__init__ is Exception.__init__):
        return
    parameters = inspect.signature(value).parameters
    for names in re.findall(r"^(\w+(?:, \w+)+) : ", told(value), re.MULTILINE):
        assert len({repr(parameters[name].default) for name in names.split(", ") if name in parameters}) <= 1, names


@pytest.mark.parametrize("value", MAIN)
def test_the_main_names_have_an_example(value: Any) -> None:
    if not isinstance(value, ncirl.Stage):  # TERMINAL is told by its class
        assert has_section(value, "Examples")
        assert ">>> " in told(value)
