"""Settings inside the QOS and accounts of policy slurm: ``qos.normal.MaxTRESPerUser=cpu=64``.

What they change is there already, from a policy file or a site's folder: a name that is not is an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from scheduler_sim.config.keys import Keys
from scheduler_sim.errors import ConfigError, did_you_mean
from scheduler_sim.policy.limits import AssociationLimits, QosKeys
from scheduler_sim.policy.shares import AccountKeys, UserKeys
from scheduler_sim.system.slurm_dumps.options import OF_ASSOCIATIONS, OF_QOS, option_named

INSIDE = ("qos", "accounts")
"""Keys of policy slurm that have named entries."""

OFF = -1
"""As in sacctmgr, takes a limit away."""

LIMITS = "limits"
MOST_NAMED = 40
KNOWN: dict[str, type[Keys]] = {
    "QOS": QosKeys,
    "account": AccountKeys,
    "user": UserKeys,
    LIMITS: AssociationLimits,
}
SHORT = {"QOS": "priority", "account": "shares", "user": "shares"}
"""What an entry says that is a number alone."""


def is_inside(key: str) -> bool:
    """Tell whether a key of policy slurm lies inside one of its entries."""
    return key.partition(".")[0] in INSIDE and "." in key


def with_inner(slurm: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Return keys of policy slurm with one changed inside an entry; None and -1 take a limit away.

    ``qos.NAME.KEY``, ``accounts.NAME.KEY`` or ``accounts.NAME.users.USER.KEY``, of limits also with
    ``limits.`` before the key, as a file has them; an account by its name alone, wherever it is.
    Raises ConfigError for a name or a key that matches nothing, with the nearest one.
    """
    room, _, path = key.partition(".")
    changed = {**slurm, room: deepcopy(slurm.get(room) or {})}
    if room == "qos":
        entries, kind = changed[room], "QOS"
        name, rest = _entry(entries, path, kind)
    else:
        every = dict(_accounts(changed[room]))
        name, rest = _entry(every, path, "account")
        entries, kind = every[name], "account"
        if rest.startswith("users."):
            inside = _opened(entries, name, kind)
            entries, kind = inside.setdefault("users", {}), "user"
            name, rest = _entry(entries, rest.removeprefix("users."), kind)
    inside = _opened(entries, name, kind)
    if kind != "QOS" and (rest.startswith(f"{LIMITS}.") or (not _spelt(rest, kind) and _spelt(rest, LIMITS))):
        inside, kind, rest = inside.setdefault(LIMITS, {}), LIMITS, rest.removeprefix(f"{LIMITS}.")
    last = _key(rest, kind)
    if value is None or (value == OFF and not isinstance(value, bool)):
        inside.pop(last, None)
    else:
        inside[last] = value
    return changed


def _accounts(tree: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every account with the mapping that it stands in."""
    for name, own in tree.items():
        yield name, tree
        if isinstance(own, dict):
            yield from _accounts(own.get("accounts") or {})


def _entry(entries: Mapping[str, Any], path: str, kind: str) -> tuple[str, str]:
    """Split a path into the name of an entry, which may have dots, and what is asked of it."""
    steps = path.split(".")
    cuts = [(".".join(steps[:i]), ".".join(steps[i:])) for i in range(len(steps) - 1, 0, -1)]
    by_lower = {name.lower(): name for name in entries}
    for name, rest in cuts:
        if name in entries or name.lower() in by_lower:
            return (name if name in entries else by_lower[name.lower()]), rest
    if not cuts:
        raise ConfigError(
            f"found the {kind} {path!r} without a key; allowed: {kind} and key, with a dot between"
        )
    wrong = cuts[-1][0]
    if not entries:
        raise ConfigError(
            f"found the {kind} {wrong!r}, and the policy has none; they stand in a site's folder"
            " (sacctmgr_qos.txt, sacctmgr_assoc.txt) or in a policy file"
        )
    raise ConfigError(
        f"found the {kind} {wrong!r}, of which the policy has none{_near(wrong, list(entries))}"
    )


def _opened(entries: dict[str, Any], name: str, kind: str) -> dict[str, Any]:
    """Return what an entry says as a mapping that can be changed."""
    if not isinstance(entries[name], dict):
        entries[name] = {} if entries[name] is None else {SHORT[kind]: entries[name]}
    inside: dict[str, Any] = entries[name]
    return inside


def _key(written: str, kind: str) -> str:
    """Return a key as it is spelt here. Raises ConfigError for one that is unknown."""
    found = _spelt(written, kind)
    if not found:
        said = "limit" if kind == LIMITS else f"key of {'a QOS' if kind == 'QOS' else 'an account or a user'}"
        raise ConfigError(f"found {written!r}, no {said}{_near(written, _keys(kind))}")
    return found


def _spelt(written: str, kind: str) -> str:
    """Return a key as it is spelt here, whatever its case, also for sacctmgr's short name, or nothing."""
    known = {name.lower(): name for name in _keys(kind)}
    if written.lower() in known:
        return known[written.lower()]
    options = {"QOS": OF_QOS, LIMITS: OF_ASSOCIATIONS}.get(kind, ())
    option, resource = option_named(options, written) or (None, "")
    return option.name if option is not None and not resource and option.name.lower() in known else ""


def _keys(kind: str) -> list[str]:
    return [name for name in KNOWN[kind].model_fields if name not in ("users", "accounts", LIMITS)]


def _near(found: str, allowed: Sequence[str]) -> str:
    shown = [*allowed[:MOST_NAMED], *(["..."] if len(allowed) > MOST_NAMED else [])]
    return f"; allowed: {', '.join(shown)}{did_you_mean(found, allowed)}"
