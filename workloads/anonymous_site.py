"""A copy of a site's folder without names of people and projects; each has the same new name in all files.

``python anonymous_site.py FOLDER COPY``. It needs nothing but Python, so that it can be read, and run on the
cluster.

Users, accounts, groups, jobs and reservations become ``user1``, ``account1`` ... by their first appearance;
``root`` stays. Free text, comments, hosts and passwords are emptied. Names of nodes, partitions, QOS and
licences and of the cluster stay, as does all that a schedule depends on. Files of other names are not copied.
The copy appears whole or not at all, and nothing that is there is replaced.
"""

from __future__ import annotations

import gzip
import re
import sys
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path

#: Columns of sacct, sacctmgr, squeue, sshare, and keys of scontrol and slurm.conf, with names; small letters.
KINDS = {
    **dict.fromkeys(("user", "uid", "users"), "user"),
    **dict.fromkeys(("account", "parentname", "accounts", "defacct", "defaultaccount"), "account"),
    **dict.fromkeys(("group", "gid", "groups", "allowgroups", "denygroups"), "group"),
    **dict.fromkeys(("allowaccounts", "denyaccounts"), "account"),
    "jobname": "job",
    **dict.fromkeys(("reservation", "reservationname"), "reservation"),
}
EMPTIED = (
    *("comment", "admincomment", "systemcomment", "submitline", "workdir", "wckey", "wckeys", "extra"),
    *("reason", "descr", "description", "org", "organization", "assocs", "stdin", "stdout", "stderr"),
    *("container", "mcslabel"),
)
HIDDEN = re.compile(r"(?i)^(\s*\w*(?:host|machine|addr|pass|user|mailprog|domain|loc)\w*\s*=\s*)(.*?)(\s*)$")
COMMAND = re.compile(
    r"(?i)((?:\S*sacctmgr\s+)?(?:-\S+\s+)*(?:add|create|modify|update|delete|remove)\s+"
    r"(acc\w*|user\w*|qos|clus\w*))(\s.*)$"
)
OF_EVENTS = {"--uid": "user", "-A": "account", "--account": "account", "-J": "job", "--job-name": "job"}
KEPT = ("root", "", "(null)", "all", "none", "parent", "-1", "unknown", "n/a")


class Names:
    """The new name of each old one, by kind."""

    def __init__(self) -> None:
        self.new: dict[str, dict[str, str]] = {}

    def one(self, kind: str, name: str) -> str:
        """Return the new name; blanks around it, quotes and a sign in front of it stay."""
        match = re.fullmatch(r"""(\s*["']?[-+]?)(.*?)(["']?\s*)""", name, re.DOTALL)
        assert match is not None
        key = match[2].lower() if kind == "account" else match[2]
        if key.lower() in KEPT:
            return name
        known = self.new.setdefault(kind, {})
        return match[1] + known.setdefault(key, f"{kind}{len(known) + 1}") + match[3]

    def several(self, kind: str, names: str) -> str:
        """Return a list of names, separated by commas, with new ones."""
        return ",".join(self.one(kind, name) for name in names.split(","))


def table(text: str, names: Names, named: str = "", emptied: Collection[str] = EMPTIED) -> str:
    """Rename in a table of sacct or sacctmgr, whole columns; ``named``: what its column Name names."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if "|" in line), len(lines))
    columns = ["".join(name.lower().split()) for name in lines[begin].split("|")] if lines[begin:] else []
    told = lines[begin : begin + 1]
    kinds = KINDS | ({"name": named} if named else {})
    for line in lines[begin + 1 :]:
        cells = line.split("|")
        if len(cells) != len(columns):
            found = f"found {len(cells)} columns in {line[:60]!r}"
            raise SystemExit(f"{found}; allowed: {len(columns)}, as in the header")
        pairs = zip(columns, cells, strict=True)
        told.append("|".join(cell(column, text, names, kinds, emptied) for column, text in pairs))
    return "\n".join([*told, ""])


def cell(
    column: str, text: str, names: Names, kinds: dict[str, str], emptied: Collection[str] = EMPTIED
) -> str:
    """Rename in a cell; a job that was cancelled does not say by whom."""
    if column in emptied:
        return ""
    if column == "state":
        return re.sub(r"(?i)(cancelled) by \S+", r"\1", text)
    return names.several(kinds[column], text) if column in kinds else text


def queue(text: str, names: Names) -> str:
    """Rename in what squeue prints, where the reason is Slurm's word for what a job waits for."""
    return table(text, names, "job", [column for column in EMPTIED if column != "reason"])


def events(text: str, names: Names) -> str:
    """Rename in events of a Slurm simulator: the options of sbatch."""
    options = "|".join(map(re.escape, OF_EVENTS))
    return re.sub(
        rf"(?m)(?<=\s)({options})(=|\s+)(\S+)", lambda m: m[1] + m[2] + names.one(OF_EVENTS[m[1]], m[3]), text
    )


def reservations(text: str, names: Names) -> str:
    """Rename in what either command prints of reservations."""
    if text.partition("\n")[0].count("|") and "ReservationName=" not in text:
        return table(text, names, "reservation")
    return re.sub(r"(\w+)=(\S*)", lambda m: f"{m[1]}={cell(m[1].lower(), m[2], names, KINDS)}", text)


def conf(text: str, names: Names) -> str:
    """Rename in a slurm.conf: who may use a partition; hosts and passwords are emptied, and comments."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r"(?<!\\)#.*", "", line)
        if not re.match(r"(?i)\s*(node|partition|down|frontend)\w*\s*=", line):
            line = HIDDEN.sub(r"\1hidden\3", line)
        line = re.sub(r"(?i)\b(reason|nodeaddr|nodehostname)=(\"[^\"]*\"|\S+)", "", line)
        pairs = r"(?i)\b((?:allow|deny)(?:accounts|groups))=(\S+)"
        lines.append(re.sub(pairs, lambda m: f"{m[1]}={names.several(KINDS[m[1].lower()], m[2])}", line))
    return "\n".join([*lines, ""])


def script(text: str, names: Names) -> str:
    """Rename in commands of sacctmgr: whom they are about, and their options; other lines are left out."""
    told = []
    for line in re.sub(r"\\\n", " ", text).splitlines():
        match = COMMAND.match(line.strip())
        if match is None:
            continue
        about = match[2].lower().rstrip("s")
        kind = next((one for one in ("account", "user") if one.startswith(about)), "")
        words = re.sub(r"""(\s+)((?:[^\s"']|"[^"]*"|'[^']*')+)""", _word(kind, names), match[3])
        told.append(match[1] + words)
    return "\n".join([*told, ""])


def _word(about: str, names: Names) -> Callable[[re.Match[str]], str]:
    """Return what renames in one word of a command about users, accounts or neither."""

    def renamed(match: re.Match[str]) -> str:
        key, sign, value = re.fullmatch(r"(?:(\w+)([+-]?=))?(.*)", match[2], re.DOTALL).groups()  # type: ignore[union-attr]
        if key is None:
            plain = not about or value.lower() in ("set", "where")
            return match[0] if plain else match[1] + names.several(about, value)
        low = key.lower()
        if low[:4] in ("desc", "orga"):
            return ""
        starts = {"account": ("acc", "defaulta", "parent"), "user": ("user",)}
        kind = next((kind for kind, words in starts.items() if low.startswith(words)), "")
        kind = kind or (about if low.startswith("name") else "")
        return f"{match[1]}{key}{sign}{names.several(kind, value) if kind else value}"

    return renamed


def unchanged(text: str, _: Names) -> str:
    """Return a text as it is: no names in it are of people."""
    return text


def release(text: str, _: Names) -> str:
    """Return the line that names a release of Slurm; the rest of what scontrol prints has hosts and paths."""
    lines = (
        line for line in text.splitlines() if line.lower().lstrip().startswith(("slurm ", "slurm_version"))
    )
    return "".join(f"{line}\n" for line in lines)


Rule = Callable[[str, Names], str]

FILES: dict[str, Rule] = {
    "sacct.txt": table,
    "sacctmgr_assoc.txt": table,
    "sacctmgr.script": script,
    "sacctmgr_qos.txt": table,
    "sacctmgr_event.txt": table,
    "reservations.txt": reservations,
    "squeue.txt": queue,
    "sshare.txt": table,
    "slurm.conf": conf,
    "gres.conf": unchanged,
    "topology.conf": unchanged,
    "version.txt": release,
}


def main(folder: str, copy: str) -> None:
    """Write the copy, and tell what became of what."""
    source, target, names = Path(folder), Path(copy), Names()
    if target.exists():
        raise SystemExit(f"{target} is there already and is left alone; allowed: a new name")
    rules = {path: _rule(path) for path in sorted(source.iterdir()) if path.is_file()}
    order = sorted((path for path, rule in rules.items() if rule), key=_place)
    if not order:
        raise SystemExit(f"{source}: found none of {', '.join(FILES)}, NAME.events")
    told: dict[str, str] = {}
    for path in order:
        rule = rules[path]
        assert rule is not None
        told[path.name] = rule(_read(path), names)
    with tempfile.TemporaryDirectory(dir=target.absolute().parent) as beside:
        made = Path(beside) / "copy"
        made.mkdir()
        for name, text in told.items():
            raw = text.encode()
            (made / name).write_bytes(gzip.compress(raw, mtime=0) if name.endswith(".gz") else raw)
        if target.exists():
            raise SystemExit(f"{target} is there already and is left alone; allowed: a new name")
        made.rename(target)
    print(f"{target}: " + ", ".join(f"{len(new)} names of {kind}s" for kind, new in names.new.items()))
    for path in sorted(rules.keys() - set(order)):
        print(f"not copied: {path.name}")
    for place, name in _left(told, names):
        print(f"look at {place}: {name!r} stands there, as a name of something else or in a text")


def _rule(path: Path) -> Rule | None:
    """Return what renames in a file; None for one of another name."""
    name = path.name.removesuffix(".gz")
    return events if name.endswith(".events") else FILES.get(name)


def _place(path: Path) -> int:
    """Return when a file is read: events first, then in the order of the table."""
    names = [*FILES]
    name = path.name.removesuffix(".gz")
    return names.index(name) if name in names else -1


def _read(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig", errors="replace")


def _left(told: dict[str, str], names: Names) -> list[tuple[str, str]]:
    """Where old names of people and projects still stand, the first place of each."""
    old = {name for kind in ("user", "account") for name in names.new.get(kind, {}) if len(name) > 2}
    new = {name for kind in names.new.values() for name in kind.values()}
    found: dict[str, str] = {}
    for file, text in told.items():
        for number, line in enumerate(text.splitlines(), 1):
            for word in set(re.findall(r"[\w.-]+", line)) & (old - new):
                found.setdefault(word, f"{file}:{number}")
    return [(place, name) for name, place in sorted(found.items())]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("usage: python anonymous_site.py FOLDER COPY")
    main(*sys.argv[1:])
