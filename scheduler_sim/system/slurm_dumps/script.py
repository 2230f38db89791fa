"""Reading a script of sacctmgr's commands: what accounts, users and QOS there are once it has run.

Each line is a command, with ``sacctmgr`` and its options in front or without, as sacctmgr reads them itself.
As in a database that was just made, there is the QOS ``normal``, which all have
unless a cluster is given others.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scheduler_sim.config.text_file import read_text
from scheduler_sim.errors import InputError
from scheduler_sim.system.slurm_conf.ignored import ACCESS, ACCOUNTING
from scheduler_sim.system.slurm_conf.lines import Pair
from scheduler_sim.system.slurm_conf.notes import Notes
from scheduler_sim.system.slurm_dumps.accounts import ROOT, Association, Associations
from scheduler_sim.system.slurm_dumps.associations import ONE_PARTITION
from scheduler_sim.system.slurm_dumps.options import (
    OF_ASSOCIATIONS,
    OF_QOS,
    Option,
    as_written,
    names,
    option_named,
    reader,
)
from scheduler_sim.system.slurm_dumps.qos import give, qos_form

NOT_UNDERSTOOD = "not a command of sacctmgr that this reader knows"
NOT_AN_OPTION = "not an option that this reader knows"
OTHER_CLUSTER = "it is about another cluster"
NOBODY = "no such account or user"
THERE_ALREADY = "it is there already; sacctmgr adds it once"

MOST_BYTES = 50_000_000
_VERBS = {"add": "add", "create": "add", "modify": "modify", "update": "modify"} | dict.fromkeys(
    ("delete", "remove"), "delete"
)
_HARMLESS_VERBS = ("show", "list", "quit", "exit")
_OBJECTS = ("cluster", "account", "user", "qos")
_PAIR = re.compile(r"([A-Za-z]+)([+-]?)=(.*)", re.DOTALL)
_NAMING = {
    "account": ("names", "accounts", "acct"),
    "user": ("names", "users"),
    "cluster": ("names", "clusters"),
}
_OF_SHELL = re.compile(r"[;&|`<>]|\$[({A-Za-z]")
_WITHOUT_EFFECT = {
    "description": ACCOUNTING,
    "organization": ACCOUNTING,
    "rawusage": "earlier usage is not read: all usage begins at 0",
    "classification": ACCOUNTING,
    "wckeys": ACCOUNTING,
    "defaultwckey": ACCOUNTING,
    "adminlevel": ACCESS,
}


@dataclass
class Database:
    """What commands have made.

    Attributes
    ----------
    tree : accounts and users of the cluster.
    qos : what is set of each QOS, by the names of options, and the place of the command that added it.
    """

    tree: Associations = field(default_factory=Associations)
    qos: dict[str, dict[str, Any]] = field(default_factory=lambda: {"normal": {}})
    places: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree.accounts[ROOT].own["qos"] = ["normal"]

    def qos_form(self, notes: Notes) -> dict[str, Any]:
        """The QOS as ``policy.slurm.qos`` has them."""
        return {name: qos_form(own, self.places.get(name, ""), notes) for name, own in self.qos.items()}


def read_script(path: str | Path, cluster: str, notes: Notes) -> Database:
    """Read a script of commands; what is not understood is noted, with its line.

    ``cluster`` is the one of the slurm.conf; commands about others are passed over. Raises ConfigError for
    files that cannot be read.
    """
    database = Database()
    for place, words in _commands(Path(path), notes):
        _run(database, words, place, cluster.lower(), notes)
    for account, whose in database.tree.accounts.items():
        if whose.parent not in database.tree.accounts:
            notes.wrong(whose.place, "parent", f"found {whose.parent!r} of {account!r}; allowed: an account")
    return database


# -- a line


def _commands(path: Path, notes: Notes) -> Iterator[tuple[str, list[str]]]:
    """The words of each command and its place; lines that end in a backslash go on."""
    begun, first = "", 0
    text = read_text(path, "commands of sacctmgr", MOST_BYTES)
    for number, line in enumerate([*text.splitlines(), ""], 1):
        first = first or number
        if line.endswith("\\"):
            begun += line[:-1] + " "
            continue
        whole, place = begun + line, f"{path}:{first}"
        begun, first = "", 0
        if not whole.strip() or whole.lstrip().startswith("#"):
            continue
        try:
            words = shlex.split(whole, comments=True)
        except ValueError as error:
            notes.wrong(place, "command", f"found {whole.strip()[:60]!r}: {error}; allowed: closed quotes")
            continue
        if _OF_SHELL.search(re.sub(r"'[^']*'|\"[^\"$`]*\"", "", whole.partition(" #")[0])):
            notes.ignore(Pair("line", whole.strip()[:60], place), NOT_UNDERSTOOD)
        else:
            yield place, _without_program(words)


def _without_program(words: list[str]) -> list[str]:
    """A command without ``sacctmgr`` and its options."""
    while words and (words[0].rpartition("/")[2] in ("sacctmgr", "sudo") or words[0].startswith("-")):
        words = words[1:]
    return words


def _shortened(word: str, known: tuple[str, ...], fewest: int) -> str:
    """What a word stands for, whole, cut short or in the plural; nothing for an unknown one."""
    low = word.lower()
    return next((one for one in known if len(low) >= fewest and (one + "s").startswith(low)), "")


def _run(database: Database, words: list[str], place: str, cluster: str, notes: Notes) -> None:
    verb = _shortened(words[0], (*_VERBS, *_HARMLESS_VERBS), 3) if words else ""
    if verb in _HARMLESS_VERBS:
        return
    kind = _shortened(words[1], _OBJECTS, 1) if verb and len(words) > 1 else ""
    if not kind:
        notes.ignore(Pair("line", " ".join(words)[:60], place), NOT_UNDERSTOOD)
        return
    command = _Command(_VERBS[verb], kind, place, cluster, notes)
    command.read(words[2:])
    if command.ours():
        if kind == "qos":
            _on_qos(database, command)
        elif kind == "cluster":
            _on_cluster(database, command)
        else:
            {"add": _add, "modify": _modify, "delete": _delete}[command.verb](database, command)


class _Command:
    """The words of a command behind its verb and what it is about.

    Attributes
    ----------
    names : whom it is about; accounts, clusters : of which accounts, on which clusters; nothing is all.
    given : options that are set: each with the resource it is about, how (``""``, ``+``, ``-``), and text.
    default : the account that users are in by default.
    """

    def __init__(self, verb: str, kind: str, place: str, cluster: str, notes: Notes) -> None:
        self.verb, self.kind, self.place, self.notes = verb, kind, place, notes
        self.names: list[str] = []
        self.accounts: list[str] = []
        self.clusters: list[str] = []
        self.given: list[tuple[Option, str, str, Pair]] = []
        self.default = ""
        self.of_partition = False
        self._cluster = cluster

    def read(self, words: list[str]) -> None:
        """Take the words in: names alone, and options, behind ``where`` or ``set`` or neither."""
        where = self.verb != "add"
        for word in words:
            if word.lower() in ("set", "where"):
                where = word.lower() == "where"
            elif match := _PAIR.fullmatch(word):
                self._option(match[1].lower(), match[2], Pair(match[1], match[3], self.place), where=where)
            else:
                self._name(word)

    def ours(self) -> bool:
        """Whether it is about the cluster of the site and can be followed; else that is noted."""
        others = self.clusters and self._cluster and self._cluster not in self.clusters
        if others and (self.kind != "cluster" or self.verb == "add"):
            self.notes.ignore(Pair("cluster", ",".join(self.clusters), self.place), OTHER_CLUSTER)
            return False
        if self.of_partition:
            self.notes.ignore(Pair(self.kind, ",".join(self.names)[:60], self.place), ONE_PARTITION)
            return False
        return True

    def _name(self, word: str) -> None:
        if self.kind == "cluster":
            self.clusters += names(word)
        else:
            self.names += as_written(word) if self.kind == "user" else names(word)

    def _option(self, key: str, how: str, pair: Pair, *, where: bool) -> None:
        naming = _NAMING.get(self.kind, ("names",))
        if any(word.startswith(key) for word in naming) and (where or self.verb == "add"):
            self._name(pair.value)
        elif len(key) >= 2 and "clusters".startswith(key):
            self.clusters += names(pair.value)
        elif self.kind == "user" and (("accounts".startswith(key) and len(key) >= 2) or key == "acct"):
            self.accounts += names(pair.value)
        elif self.kind == "user" and len(key) >= 8 and "defaultaccount".startswith(key):
            self.default = pair.value.lower()
        elif len(key) >= 4 and "partitions".startswith(key):
            self.of_partition = True
        elif why := next(
            (why for word, why in _WITHOUT_EFFECT.items() if len(key) >= 3 and word.startswith(key)), ""
        ):
            self.notes.ignore(pair, why)
        elif (found := option_named(OF_QOS if self.kind == "qos" else OF_ASSOCIATIONS, key)) and not where:
            self.given.append((*found, how, pair))
        else:
            self.notes.ignore(pair, NOT_AN_OPTION)

    def give_all(self, whose: Association) -> None:
        """Set what the command sets of an association."""
        for option, resource, how, pair in self.given:
            value = self._value(option, resource, pair)
            if option.name == "parent":
                whose.parent = value or ROOT
            else:
                whose.give(option, _changed(whose.own.get(option.name, []), value, how))

    def give_qos(self, own: dict[str, Any]) -> None:
        """Set what the command sets of a QOS."""
        for option, resource, how, pair in self.given:
            give(
                own, option.name, _changed(own.get(option.name, []), self._value(option, resource, pair), how)
            )

    def nobody(self) -> None:
        """Note that there is nobody whom the command could be about."""
        self.notes.ignore(Pair(f"{self.verb} {self.kind}", ",".join(self.names)[:60], self.place), NOBODY)

    def _value(self, option: Option, resource: str, pair: Pair) -> Any:
        try:
            return reader(option, resource)(pair.value)
        except InputError as error:
            self.notes.wrong(self.place, pair.key, error)
            return None


def _changed(there: Any, value: Any, how: str) -> Any:
    """A list with names added or taken away; any other value as it is given."""
    if not isinstance(value, list):
        return value
    if how == "+":
        value = [*there, *value]
    elif how == "-":
        value = [name for name in there if name not in value]
    return sorted(set(value))


# -- what commands do


def _on_cluster(database: Database, command: _Command) -> None:
    if command.verb == "delete":
        command.notes.ignore(
            Pair("delete cluster", ",".join(command.clusters), command.place), NOT_UNDERSTOOD
        )
    else:
        command.give_all(database.tree.accounts[ROOT])


def _on_qos(database: Database, command: _Command) -> None:
    if command.verb == "add":
        for name in command.names:
            if name in database.qos:
                command.notes.ignore(Pair("add qos", name, command.place), THERE_ALREADY)
                continue
            database.qos[name], database.places[name] = {}, command.place
            command.give_qos(database.qos[name])
        return
    for name in command.names or list(database.qos):
        if name not in database.qos:
            command.nobody()
        elif command.verb == "modify":
            command.give_qos(database.qos[name])
        else:
            del database.qos[name]
            _forget_qos(database, name)


def _forget_qos(database: Database, name: str) -> None:
    """Take a QOS that is no more out of all lists."""
    for whose in [*database.tree.accounts.values(), *database.tree.users.values()]:
        if whose.own.get("default_qos") == name:
            del whose.own["default_qos"]
        if name in whose.own.get("qos", []):
            whose.own["qos"] = [one for one in whose.own["qos"] if one != name]
            if not whose.own["qos"]:
                del whose.own["qos"]
    for own in database.qos.values():
        own.update(Preempt=[one for one in own["Preempt"] if one != name]) if "Preempt" in own else None


def _add(database: Database, command: _Command) -> None:
    tree = database.tree
    if command.kind == "account":
        for name in command.names:
            if name in tree.accounts:
                command.notes.ignore(Pair("add account", name, command.place), THERE_ALREADY)
                continue
            tree.accounts[name] = Association(name, "", command.place)
            command.give_all(tree.accounts[name])
        return
    accounts = command.accounts or ([command.default] if command.default else [])
    if not accounts:
        command.notes.wrong(command.place, "add user", "found no account; allowed: account=NAME")
    for account in accounts:
        if account not in tree.accounts:
            command.notes.wrong(
                command.place, "account", f"found {account!r}; allowed: one that was added before"
            )
            continue
        for user in command.names:
            if (account, user) in tree.users:
                command.notes.ignore(Pair("add user", user, command.place), THERE_ALREADY)
                continue
            tree.users[account, user] = Association(account, user, command.place)
            tree.default.setdefault(user, command.default or account)
            command.give_all(tree.users[account, user])


def _modify(database: Database, command: _Command) -> None:
    meant = list(_meant(database.tree, command))
    for whose in meant:
        command.give_all(whose)
        if command.default and whose.user:
            database.tree.default[whose.user] = command.default
    if not meant:
        command.nobody()


def _delete(database: Database, command: _Command) -> None:
    """Take associations away; an account with its users and all accounts inside it."""
    tree = database.tree
    gone = list(_meant(tree, command)) if command.names or command.accounts else []
    if not gone:
        command.nobody()
    for whose in gone:
        if whose.user:
            tree.users.pop((whose.account, whose.user), None)
            continue
        tree.accounts.pop(whose.account, None)
        for key in [key for key in tree.users if key[0] == whose.account]:
            del tree.users[key]
        gone += [one for one in tree.accounts.values() if one.parent == whose.account and one.account != ROOT]


def _meant(tree: Associations, command: _Command) -> Iterator[Association]:
    """The associations that a command is about; without names, all of their kind."""
    if command.kind == "account":
        yield from (one for name, one in tree.accounts.items() if name in (command.names or tree.accounts))
        return
    for (account, user), one in tree.users.items():
        if (not command.names or user in command.names) and (
            not command.accounts or account in command.accounts
        ):
            yield one
