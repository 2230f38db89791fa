"""Files that people write: every mistake is named with its line, and nothing else happens."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scheduler_sim.config.text_file import MAX_BYTES
from scheduler_sim.config.yaml_file import read_scalar, read_yaml
from scheduler_sim.errors import ConfigError
from scheduler_sim.policy.keys import PolicyKeys
from scheduler_sim.policy.policy import Policy
from scheduler_sim.system.keys import ModuleKeys, PartitionKeys, SystemKeys
from scheduler_sim.system.system import System
from tests.conftest import examples


def written(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "file.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def error_of(tmp_path: Path, content: str | bytes) -> str:
    with pytest.raises(ConfigError) as raised:
        read_yaml(written(tmp_path, content))
    return str(raised.value).replace(f"{tmp_path}/", "")


def test_every_key_and_item_has_its_line(tmp_path: Path) -> None:
    file = read_yaml(written(tmp_path, "# title\na: 1\nb:\n  - x\n  - c: {d: 2,\n      e: 3}\n"))
    assert file.data == {"a": 1, "b": ["x", {"c": {"d": 2, "e": 3}}]}
    assert file.lines[("a",)] == 2
    assert file.lines[("b", 1)] == 5
    assert file.lines[("b", 1, "c", "e")] == 6
    assert file.place(("b", 1, "c", "missing", 7)).endswith("file.yaml:5")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("010", 10),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("null", None),
        ("", None),
        ("~", None),
        # words and clocks that YAML 1.1 would turn into something else
        ("no", "no"),
        ("on", "on"),
        ("12:00:00", "12:00:00"),
        ("2024-01-01", "2024-01-01"),
        ("2-00:00:00", "2-00:00:00"),
        ("0x10", "0x10"),
    ],
)
def test_scalars_are_read_alike_in_files_and_settings(tmp_path: Path, text: str, value: object) -> None:
    assert read_scalar(text) == value
    assert read_yaml(written(tmp_path, f"key: {text}\n")).data == {"key": value}


def test_aliases_stand_for_what_they_name(tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, "a: &x [1]\nb: *x\n")).data == {"a": [1], "b": [1]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "file.yaml: the file is empty; allowed: a mapping of keys to values"),
        ("# only a comment\n", "file.yaml: the file is empty"),
        ("\n- a\n- b\n", "file.yaml:2: found a list; allowed: a mapping"),
        ("word\n", "file.yaml:1: found the single value 'word'; allowed: a mapping"),
        ("a: 1\nb: 2\na: 3\n", "file.yaml:3: a: given twice, first on line 1; allowed: once"),
        ("a: 1\nb: [1, 2\nc: 3\n", "file.yaml:3: not valid YAML"),
        ("a: b: c\n", "file.yaml:1: not valid YAML: mapping values are not allowed here"),
        ("a: 1\n\tb: 2\n", "file.yaml:2: not valid YAML: found character '\\t' that cannot start any token"),
        ("a: *nowhere\n", "file.yaml:1: not valid YAML: found undefined alias 'nowhere'"),
        ("a: 1\n---\nb: 2\n", "file.yaml:2: not valid YAML: but found another document"),
        ("a: 1\nb: !!python/object/apply:os.system [ls]\n", "file.yaml:2: b: found the tag"),
        ("a: !!int abc\n", "file.yaml:1: a: found 'abc'; allowed: a value of type int"),
        ("? [a, b]\n: 1\n", "found a list or mapping as a key on line 1; allowed: text"),
        (b"a: 1\nb: \0\n", "file.yaml:2: holds a NUL byte; allowed: text in UTF-8"),
        (b"a: 1\nb: caf\xe9\n", "file.yaml:2: found the byte 0xe9; allowed: text in UTF-8"),
        (b"\x1f\x8b\x08\x08ab", "file.yaml:1: found the byte 0x8b; allowed: text in UTF-8"),
        ("a: \x07\n", "not valid YAML: unacceptable character"),
        (b"a: " + b"x" * MAX_BYTES, "larger than 1,000,000 bytes"),
        ("a: " + "[" * 100, "nested more than 40 levels deep"),
        ("a: &a [*a]\n", "an alias refers to the value it stands in"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, content: str | bytes, message: str) -> None:
    assert message in error_of(tmp_path, content)


def test_a_bomb_of_aliases_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    """It stands for 10^12 values: to make them all would not end."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert "more than 100,000 values" in error_of(tmp_path, "\n".join(lines))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: no such file"):
        read_yaml(tmp_path / "nowhere.yaml")
    with pytest.raises(ConfigError, match="is a directory; allowed: a YAML file"):
        read_yaml(tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml("a\0b.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(written(tmp_path, "a: 1") / "below")


yaml_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
system_keys = st.sampled_from(
    [*SystemKeys.model_fields, *ModuleKeys.model_fields, *PartitionKeys.model_fields, "licences", "nam_gb"]
)
likely_values = st.recursive(
    st.integers(-2, 5) | st.sampled_from(["CM", "cm", "easy", "keep", "12:00:00", "true", "x.py:f"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(system_keys, inner, max_size=5),
    max_leaves=20,
)
modules = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["CM", "cm", "ESB", "DAM"]), "nodes": st.integers(0, 9)},
        optional={"cost_per_node": st.floats(), "memory_gb": st.floats(0, 1e9), "features": st.just(["gpu"])},
    ),
    max_size=3,
)
partitions = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "A", "b", "CM"]), "module": st.sampled_from(["CM", "cm", "ESB"])},
        optional={"max_time": st.integers(0, 9) | st.just("1h"), "default": st.booleans()},
    ),
    max_size=3,
)
resources = st.fixed_dictionaries({"nam_gb": st.floats(0, 1e6), "licences": st.just({"x": 3})})
likely_systems = st.fixed_dictionaries(
    {"modules": modules}, optional={"partitions": partitions, "resources": resources}
)
noise = "a:-[]{}&*!|>?#%@'\" \n\t1.,~"


@examples(150)
@given(st.binary(max_size=60) | st.text(alphabet=noise, max_size=40).map(str.encode))
@example(b"\xef\xbb\xbfmodules: [{name: CM, nodes: 1}]")
@example(b"modules: [{name: [], nodes: {}}]\npartitions: {a: b}")
@example(b"!!set {a}")
@example(b"? ")
def test_any_bytes_raise_a_config_error_or_nothing(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = written(Path(folder), content)
        for read in (System.from_yaml, Policy.from_yaml):
            with suppress(ConfigError):
                read(path)


@examples(300)
@given(
    st.dictionaries(system_keys | st.text(max_size=5), likely_values | yaml_values, max_size=5)
    | likely_systems
)
@example({"modules": [{"name": "CM", "nodes": 10**5000}]})
@example({"modules": [{"name": 1, "nodes": "1e400"}], "swf": {"partitions": {"1": "1"}}})
@example({"modules": [{"name": "CM", "nodes": 1}], "swf": {"partitions": {1: "cm"}}})
def test_any_data_raises_a_config_error_or_makes_a_system_that_comes_back(data: dict[str, object]) -> None:
    with suppress(ConfigError):
        system = System.from_dict(data)
        assert System.from_dict(system.to_dict()) == system


policy_values = yaml_values | st.sampled_from(
    [
        "easy",
        "conservative",
        "none",
        "first_fit",
        "slurm",
        "sjf",
        "keep",
        "run",
        "static",
        "event",
        "false",
        "2",
    ]
)
policy_keys = st.sampled_from([*PolicyKeys.model_fields, "slurm", "policy.depth", "dept"])


@examples(300)
@given(st.dictionaries(policy_keys, policy_values, max_size=5))
def test_any_settings_raise_a_config_error_or_make_a_policy_that_comes_back(data: dict[str, object]) -> None:
    for make in (lambda: Policy.resolve(data), lambda: Policy.named("easy").with_settings(data)):
        with suppress(ConfigError):
            policy = make()
            assert Policy(**policy.to_dict()) == policy
            assert policy.reservation_depth >= -1
