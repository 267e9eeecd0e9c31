"""One declaration: what derives from it agrees with it, and nobody defines a setting a second time."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

import consilience
import consilience as cs
from consilience.cli.app import app
from consilience.errors import OptionError
from consilience.iod.discover import Engine, Resolve
from consilience.iod.published import union
from consilience.service import settings as service_settings
from consilience.service.server.models import SettingsModel
from consilience.settings import (
    DEFAULTS,
    LOCAL,
    NETWORK_SETTINGS,
    SETTINGS,
    NetworkSettings,
    Part,
    Settings,
    Terms,
    check_settings,
    choices,
    names_of,
    settings_of,
    terms_of,
)
from consilience.settings.declaration import LOCAL_SETTINGS, OVER_A_NETWORK
from consilience.settings.page import settings_page
from tests.settings.make_page import PAGE

ROOT = Path(consilience.__file__).parent

# --- signatures ---------------------------------------------------------------------------------------------------------------------


OF_RESIDUALS = {"site_slopes", "alternatives", "cluster"}
"""Settings that mean something to ``method="residual"`` alone."""


@pytest.mark.parametrize(
    ("function", "wanted", "others"),
    [
        (cs.Server, {*names_of(Part.TESTS), "masking"}, {"clients", "schema"}),
        (cs.fisher, {*names_of(Part.TESTS), "masking"} - {"method", "diagnostics", *OF_RESIDUALS}, {"clients", "schema"}),
        (cs.discover, {*names_of(Part.GRAPHS, Part.EFFECTS, Part.STABILITY), "jobs"}, {"test", "knowledge", "progress", "stop"}),
        (cs.pooled, {"site_effects", "ordinal", "ridge", "method", "small_sample", "diagnostics", *OF_RESIDUALS}, {"data", "schema"}),
    ],
    ids=["Server", "fisher", "discover", "pooled"],
)
def test_signatures_name_every_setting_and_take_its_default(function: Callable[..., Any], wanted: set[str], others: set[str]) -> None:
    parameters = inspect.signature(function).parameters
    assert set(parameters) == wanted | others
    declared = {**SETTINGS, **LOCAL_SETTINGS}
    assert {name: parameters[name].default for name in wanted} == {name: declared[name].plain_default for name in wanted}
    assert not any(isinstance(parameters[name].default, choices.StrEnum) for name in wanted), "help() shows words, not members"


@pytest.mark.parametrize("function", [cs.Server, cs.fisher, cs.pooled, cs.discover], ids=lambda f: f.__name__)
def test_help_has_sections_and_names_every_parameter_and_choice(function: Callable[..., Any]) -> None:
    text = inspect.getdoc(function) or ""
    for heading in ("Parameters", "Raises", "Examples", *(() if inspect.isclass(function) else ("Returns",))):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    for name, parameter in inspect.signature(function).parameters.items():
        line = re.search(rf"^{name} : (.*)$", text, re.MULTILINE)
        assert line, f"{name} is not among the parameters of {function.__name__}"
        if name in SETTINGS and SETTINGS[name].is_choice:
            assert re.findall('"(.*?)"', line[1]) == list(SETTINGS[name].choices)
        assert parameter.default is inspect.Parameter.empty or parameter.kind is inspect.Parameter.KEYWORD_ONLY


# --- the other places ---------------------------------------------------------------------------------------------------------------


def test_the_page_of_the_documentation_is_the_declaration() -> None:
    assert PAGE.read_text(encoding="utf-8") == settings_page(), "run python tests/settings/make_page.py"


def test_the_rest_interface_has_words_ranges_and_defaults_of_the_network() -> None:
    schema = SettingsModel.model_json_schema()
    assert list(schema["properties"]) == list(NETWORK_SETTINGS)
    assert schema["additionalProperties"] is False
    names = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum", "max_length": "maxItems"}
    for name, setting in NETWORK_SETTINGS.items():
        told = schema["properties"][name]
        assert told["description"] == setting.about.doc
        bounds = told | (told["anyOf"][0] if setting.optional else {})
        called = names | ({"max_length": "maxLength"} if setting.type is str else {})
        assert {key: bounds[called[key]] for key in setting.about.bounds} == setting.about.bounds
        assert tuple(told.get("enum", ())) == setting.choices
        if setting.type in (int, float, bool) or setting.is_choice:
            assert told["default"] == setting.plain_default
    plain = SettingsModel().model_dump()
    assert {name: plain[name] for name in plain if plain[name] != []} == {
        name: setting.plain_default for name, setting in NETWORK_SETTINGS.items() if setting.default != ()
    }


def test_the_networks_settings_differ_only_as_the_table_says() -> None:
    for name, setting in SETTINGS.items():
        there = NETWORK_SETTINGS[name]
        assert (there != setting) == (name in OVER_A_NETWORK)
        assert getattr(NetworkSettings(), name) == there.default
        assert getattr(Settings(), name) == setting.default
    assert NetworkSettings.__struct_fields__ == Settings.__struct_fields__
    assert check_settings(NetworkSettings()) == NetworkSettings()
    assert all(otherwise.why for otherwise in OVER_A_NETWORK.values())


def test_commands_have_the_declarations_options() -> None:
    command: Any = typer.main.get_command(app)
    for words, parts in (("discover", (Part.GRAPHS, Part.TESTS)), ("test", (Part.TESTS,))):
        options = {option.name: option for option in command.commands[words].loaded.params}
        for name in set(names_of(*parts)) - {"on_dropout"}:
            assert options[name].default is None, "not given: a study file, then the declaration, says it"
            if name != "method":
                assert options[name].help.split(" \\[default")[0] == SETTINGS[name].about.doc
            if (least := SETTINGS[name].about.ge) is not None:
                refused = CliRunner().invoke(app, [words, f"--{name.replace('_', '-')}={int(least) - 1}", "x", "y", "z.csv"])
                assert refused.exit_code == 2
                assert f"equal to {least}" in refused.output
    assert "[default: 0.05]" in CliRunner().invoke(app, ["discover", "--help"], env={"COLUMNS": "200"}).output


def test_terms_are_made_of_settings() -> None:
    assert terms_of(DEFAULTS) == Terms()
    made = terms_of(settings_of(site_effects="none", min_rows=7, max_given=1, on_dropout="stop"), masking=False)
    assert (made.effects.value, made.min_rows, made.max_given, made.on_dropout.value, made.masking) == ("none", 7, 1, "stop", False)
    assert terms_of(NetworkSettings()).network


def test_choices_are_defined_once() -> None:
    assert (Engine, Resolve, union.Variant) == (choices.Engine, choices.Resolve, choices.Variant)
    assert service_settings.Batching is choices.Batching
    defined = [node.name for _, node in classes() if any(isinstance(b, ast.Name) and b.id == "StrEnum" for b in node.bases)]
    for setting in SETTINGS.values():
        if setting.is_choice and setting.name != "method":  # a comparison of methods in simulate/ has more of them
            assert defined.count(setting.type.__name__) == 1


# --- checks -------------------------------------------------------------------------------------------------------------------------

WRONG: dict[str, list[Any]] = {
    "alpha": [0, 1, -0.1, "0.05", None, True, float("nan")],
    "max_given": [-1, 0.5, "2", True],
    "ridge": [-1.0, float("inf"), float("nan"), None],
    "selection_bias": ["no", 1, None],
    "limit": [0, 1.5, "10"],
    "time_limit": [-1, float("nan"), "1"],
    "tiers": ["AB", [["A"], "B"], [1], None, [["A"]] * 65],
    "required": ["A => B", [1], ["A => B"] * 257],
    "forbidden": ["A => B", [["A"]]],
    "min_contributors": [0, 2.5, "2", None],
    "min_rows": [0, float("nan"), 10.5],
    "min_cell": [0, 2.5, "5", None],
    "bootstrap": [-1, 2.5, "100", None],
    "allow_joint": ["yes", 0],
    "consent_seconds": [0, 1e9],
    "return_seconds": [0.5, None],
    "round_seconds": [0, 86401],
    "cluster": ["", " ", 1, "a\nb", "x" * 201],
}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_takes_its_default_and_refuses_what_it_cannot_be(name: str) -> None:
    setting = SETTINGS[name]
    assert setting.check(setting.default) == setting.check(setting.plain_default) == setting.default
    assert NETWORK_SETTINGS[name].check(NETWORK_SETTINGS[name].default) == NETWORK_SETTINGS[name].default
    for wrong in WRONG.get(name, ["magic", None, 1]):
        with pytest.raises(OptionError, match=name):
            settings_of(**{name: wrong})


STRICT: dict[str, Any] = {"isolation": choices.Isolation.STRICT, "single_site": choices.SingleSite.REFUSE}


def test_strict_goes_with_settings_that_tell_nothing_of_one_site() -> None:
    assert check_settings(NetworkSettings(**STRICT)).isolation == "strict"
    with pytest.raises(OptionError, match="isolation='aggregate'"):
        settings_of(isolation="strict", single_site="refuse")
    assert settings_of(isolation="strict", single_site="refuse", on_dropout="stop").min_cell == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"min_contributors": 1}, "at least 2"),
        ({"time_limit": 0.5}, "at least 1"),
        ({"time_limit": None}, "time_limit"),
        ({"limit": None}, "limit"),
        ({"limit": 1_000_001}, "at most 1000000"),
        ({"max_given": 65}, "at most 64"),
        ({"site_effects": choices.SiteEffects.JOINT}, "allow_joint"),
        ({"engine": choices.Engine.IOD, "selection_bias": True}, "selection bias"),
        ({"required": ("A => B\n",)}, "printable"),
        ({"isolation": choices.Isolation.STRICT}, "take single_site='refuse'"),
        ({**STRICT, "on_dropout": choices.Dropout.RESTART}, "take on_dropout='stop'"),
        ({**STRICT, "site_effects": choices.SiteEffects.JOINT, "allow_joint": True}, "take site_effects='profiled'"),
    ],
    ids=str,
)
def test_what_no_study_over_a_network_may_be(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        check_settings(NetworkSettings(**settings))


def test_a_setting_that_does_not_exist() -> None:
    with pytest.raises(OptionError, match="did you mean min_rows"):
        settings_of(min_row=1)
    with pytest.raises(OptionError, match="settings are alpha, "):
        settings_of(weather="fine")


# --- no second definition -----------------------------------------------------------------------------------------------------------

NAMES = {*SETTINGS, *LOCAL_SETTINGS, "effects"}
DERIVED = (
    "settings/disclosure.py",
    "settings/terms.py",
    "federation/pooled.py",
    "federation/server.py",
    "iod/discover.py",
    "simulate/power.py",
    "service/settings.py",
    "service/server/models.py",
    "cli/discovery.py",
    "cli/independence.py",
    "cli/sites.py",
)
"""Where users meet settings: no default may be written there at all. Elsewhere, below, an argument may be absent."""
POLICY = "service/agent/policy.py"
"""A site's own least limits, under the names of the settings that they are held against: they have defaults of their own."""
OF_A_SITE = {"cells", "min_cell"}
"""What a site's owner says for his own table under the same name, with a default of its own."""


def classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for file in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield file, node


def is_message(node: ast.ClassDef) -> bool:
    """A message that travels: its defaults are part of the format, and must not follow a setting's."""
    return any(keyword.arg == "tag" for keyword in node.keywords)


def defaults_in(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Parameters of functions and fields of classes that have the name of a setting, with their defaults."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            positional = [*node.args.posonlyargs, *node.args.args]
            pairs = [
                *zip(positional[::-1], node.args.defaults[::-1], strict=False),
                *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
            ]
            yield from ((argument.arg, default) for argument, default in pairs if default is not None)
        elif isinstance(node, ast.ClassDef) and not is_message(node):
            for line in node.body:
                if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and line.value is not None:
                    yield line.target.id, line.value
                elif isinstance(line, ast.Assign):
                    yield from ((target.id, line.value) for target in line.targets if isinstance(target, ast.Name))


def is_written(default: ast.expr, *, derived: bool) -> bool:
    """True for a value that stands there in letters: a number, a word, a member of a choice, or a call that holds one."""
    if isinstance(default, ast.Constant | ast.Tuple | ast.List):
        absent = (isinstance(default, ast.Constant) and not default.value) or (
            isinstance(default, ast.Tuple | ast.List) and not default.elts
        )
        return derived or not absent
    if isinstance(default, ast.Attribute) and isinstance(default.value, ast.Name):
        return hasattr(choices, default.value.id)
    if isinstance(default, ast.Call):
        return any(is_written(part, derived=True) for part in (*default.args, *(k.value for k in default.keywords)))
    return isinstance(default, ast.BinOp | ast.UnaryOp)


def second_definitions(text: str, file: str) -> list[str]:
    found = defaults_in(ast.parse(text))
    return [
        f"{file}: {name} = {ast.unparse(value)}"
        for name, value in found
        if name in (NAMES if file in DERIVED else NAMES - OF_A_SITE) and is_written(value, derived=file in DERIVED)
    ]


def test_no_setting_has_a_second_default() -> None:
    files = {str(file.relative_to(ROOT)): file for file in sorted(ROOT.rglob("*.py"))}
    assert set(DERIVED) <= set(files)
    found = [
        line
        for name, file in files.items()
        if name not in ("settings/declaration.py", POLICY)
        for line in second_definitions(file.read_text(encoding="utf-8"), name)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(*, min_rows: int = 10): ...",
        "def f(x, alpha=0.05): ...",
        "class A:\n    min_contributors: int = 2",
        "class A:\n    method: Method = Method.FEDCI",
        "class A:\n    consent_seconds: float = 7 * 86400.0",
        "class A(BaseModel):\n    limit: int = Field(default=10_000, ge=1)",
        "f = lambda masking=True: masking",
    ],
)
def test_a_second_definition_is_found(text: str) -> None:
    assert second_definitions(text, "anywhere.py")
    assert second_definitions("def f(*, ridge: float = 0.0, max_given=None): ...", "federation/server.py")
    assert not second_definitions("def f(*, ridge: float = 0.0, max_given=None): ...", "glm/solver.py")
    assert not second_definitions("def f(*, min_rows: int = DEFAULTS.min_rows): ...", "federation/server.py")


def test_what_one_program_decides_is_no_part_of_a_study() -> None:
    assert not set(LOCAL_SETTINGS) & set(SETTINGS)
    assert LOCAL.masking
