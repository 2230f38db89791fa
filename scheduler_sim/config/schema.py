"""JSON Schema of YAML files, from the models of their keys: for editors that complete and check as one types.

A schema is no stricter than the reader: text that spells a number counts as one, words count in any case,
and a key without a value is as if absent. What no schema can say, the reader still checks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from scheduler_sim.config.keys import Keys, checks_of, kinds_of, nested, words_for

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NUMBER = re.compile(r"^an? (integer|number) (>=|>|from) (-?[\d.e+]+)")
_KINDS: dict[Any, list[str]] = {
    bool: ["boolean", "string"],
    int: ["integer", "string"],
    float: ["number", "string"],
    str: ["string", "integer"],
}
"""What YAML may have for a type: text that spells it, too."""

_NOTHING = {"type": "null"}
_NO_MAPPING = {"not": {"type": "object"}}


def schema_of(root: type[Keys], title: str) -> dict[str, Any]:
    """Return the schema of a file whose keys are these."""
    definitions: dict[str, Any] = {}
    whole = _mapping(root, definitions)
    return {"$schema": DIALECT, "title": title, **whole, "$defs": dict(sorted(definitions.items()))}


def _mapping(model: type[Keys], definitions: dict[str, Any]) -> dict[str, Any]:
    fields = {name: _key(model, name, info, definitions) for name, info in model.model_fields.items()}
    required = [name for name, info in model.model_fields.items() if info.is_required()]
    by_alias = {info.alias or name: fields[name] for name, info in model.model_fields.items()}
    needed = {"required": [model.model_fields[name].alias or name for name in required]} if required else {}
    return {
        "type": "object",
        "description": " ".join((model.__doc__ or "").split()),
        "properties": by_alias,
        **needed,
        "additionalProperties": False,
    }


def _key(model: type[Keys], name: str, info: FieldInfo, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return what may stand under a key, with its words."""
    allowed = words_for(model, name)
    text = str(info.description or "")
    told: dict[str, Any] = {"description": f"{text}. Allowed: {allowed}" if allowed else text}
    if info.default is not PydanticUndefined and isinstance(info.default, bool | int | float | str):
        told["default"] = info.default
    return {**told, **_value(model, name, info, definitions)}


def _value(model: type[Keys], name: str, info: FieldInfo, definitions: dict[str, Any]) -> dict[str, Any]:
    checks = checks_of(model, name)
    inner, mark = nested(info.annotation)
    if inner is not None:
        others = {} if _reads_other_shapes(inner) else _NO_MAPPING if checks else _NOTHING
        return {"anyOf": [_reference(inner, mark, definitions), others]}
    words = next((check.words for check in checks if check.words), ())
    kinds = kinds_of(info.annotation)
    if words and kinds == [str]:
        in_any_case = {"type": "string", "pattern": _in_any_case(words)}
        return {"anyOf": [{"enum": list(words)}, in_any_case, _NOTHING]}
    if len(kinds) == 1 and kinds[0] in _KINDS and checks:
        return {"type": [*_KINDS[kinds[0]], "null"], **_limits(checks[0].allowed)}
    if len(kinds) == 1 and get_origin(kinds[0]) in (list, tuple) and not checks:
        return {"type": ["array", "null"]}
    return {}


def _reference(inner: type[Keys], mark: str, definitions: dict[str, Any]) -> dict[str, Any]:
    if inner.__name__ not in definitions:
        definitions[inner.__name__] = {}  # so that one that holds itself ends
        definitions[inner.__name__] = _mapping(inner, definitions)
    one = {"$ref": f"#/$defs/{inner.__name__}"}
    if mark == "[]":
        return {"type": "array", "items": one}
    return {"type": "object", "additionalProperties": one} if mark else one


def _reads_other_shapes(model: type[Keys]) -> bool:
    """Whether a mapping may be written in another way, which its own validator turns into keys."""
    return any(
        decorator.info.mode == "before" and name != "_drop_empty"
        for name, decorator in model.__pydantic_decorators__.model_validators.items()
    )


def _limits(allowed: str) -> dict[str, Any]:
    found = _NUMBER.match(allowed)
    if found is None:
        return {}
    least, key = float(found[3]), "exclusiveMinimum" if found[2] == ">" else "minimum"
    return {key: int(least) if least == int(least) else least}


def _in_any_case(words: Sequence[str]) -> str:
    """Return a pattern of the words in any case; schemas have no flag for that."""

    def sign(one: str) -> str:
        return f"[{one.lower()}{one.upper()}]" if one.isalpha() else re.escape(one)

    return f"^({'|'.join(''.join(map(sign, word)) for word in words)})$"
