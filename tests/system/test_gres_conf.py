"""Reading the gres.conf beside a slurm.conf: what agrees, what does not, and each mistake."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler_sim.errors import ConfigError
from scheduler_sim.system.slurm_conf import ignored
from scheduler_sim.system.slurm_conf.notes import Ignored
from scheduler_sim.system.slurm_conf.site import Site, read_slurm_conf
from tests.conftest import SHARED, needs_shared

SHARING = "SelectType=select/cons_tres\n"
PART = "PartitionName=p Nodes=ALL\n"


def site(tmp_path: Path, gres: str, text: str) -> Site:
    """The site of some nodes with this ``Gres=``, and a gres.conf."""
    (tmp_path / "slurm.conf").write_text(f"{SHARING}NodeName=g[1-4] CPUs=8 Gres={gres}\n{PART}")
    (tmp_path / "gres.conf").write_text(text)
    return read_slurm_conf(tmp_path / "slurm.conf")


def left_out(found: Site) -> list[Ignored]:
    """What is left out of the gres.conf."""
    return [one for one in found.ignored if "gres.conf" in one.place]


@pytest.mark.parametrize(
    ("gres", "text"),
    [
        ("gpu:a100:4", "NodeName=g[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-3]\n"),
        ("gpu:a100:4", "NAME=GPU type=A100 files=/dev/nvidia[0-3] COUNT=4 # as in the man page\n"),
        ("gpu:4", "AutoDetect=off\nNodeName=g[1-4] Name=gpu File=/dev/nvidia0,/dev/nvidia[1-3]\n"),
        ("gpu:4", "Name=gpu File=/dev/nvidia[0-1] \\\nCount=2\nName=gpu File=/dev/nvidia[2-3]\n"),
        (
            "gpu:a100:2,gpu:v100:2",
            "Name=gpu Type=a100 File=/dev/nvidia[0-1]\nName=gpu Type=v100 File=/dev/nvidia[2-3]\n",
        ),
        ("gpu:1g.5gb:2", 2 * "Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/c[1-2]\n"),
        ("nvme:2K", "NodeName=g[1-4] AutoDetect=off Name=nvme Count=2k\n"),
        ("gpu:2,shard:8", "Name=gpu File=/dev/nvidia[0-1]\nName=shard Count=8 File=/dev/nvidia[0-1]\n"),
        ("gpu:a:2,shard:8", "Name=shard Count=3 File=/dev/nvidia0\nName=shard Count=5 File=/dev/nvidia1\n"),
    ],
)
def test_what_agrees_needs_no_word(tmp_path: Path, gres: str, text: str) -> None:
    found = site(tmp_path, gres, text)
    assert left_out(found) == []
    (tmp_path / "gres.conf").unlink()
    assert read_slurm_conf(tmp_path / "slurm.conf") == found


def test_included_files_count_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "gpus").write_text("Name=gpu Count=3\n")
    (one,) = [one for one in site(tmp_path, "gpu:2", "Include more/gpus\n").ignored if "gpus" in one.place]
    assert (one.place, one.why) == (f"{tmp_path}/more/gpus:1", ignored.OTHER_COUNT)


@pytest.mark.parametrize(
    ("gres", "line", "why", "key", "value"),
    [
        ("gpu:2", "Name=gpu Count=4", ignored.OTHER_COUNT, "gpu", "4 on g1 and 3 more with Gres=gpu:2"),
        ("gpu:2", "Name=gpu", ignored.OTHER_COUNT, "gpu", "1 on g1 and 3 more with Gres=gpu:2"),
        (
            "gpu:a:2",
            "NodeName=g[2-3] Name=gpu Type=a File=/dev/x",
            ignored.OTHER_COUNT,
            "gpu:a",
            "1 on g2 and 1 more with Gres=gpu:a:2",
        ),
        ("gpu:a:2", "Name=gpu Count=2", ignored.NOT_IN_GRES, "gpu", "2 on g1 and 3 more"),
        ("gpu:a:2", "Name=gpu Type=b Count=2", ignored.NOT_IN_GRES, "gpu:b", "2 on g1 and 3 more"),
        ("gpu:a:2", "NodeName=g4 Name=nvme", ignored.NOT_IN_GRES, "nvme", "1 on g4"),
        ("gpu:2", "Name=gpu Type=b Count=2", ignored.NO_TYPE_IN_GRES, "gpu:b", "on g1 and 3 more"),
        (
            "shard:9,gpu:1",
            "Name=shard Count=8",
            ignored.OTHER_COUNT,
            "shard",
            "8 on g1 and 3 more with Gres=shard:9",
        ),
        ("gpu", "NodeName=h1,g1,h2 Name=gpu", ignored.NO_SUCH_NODE, "NodeName", "h1 and 1 more"),
        ("gpu", "Name=gpu Cores=0-3", ignored.BOUND, "Cores", "0-3"),
        ("gpu", "Name=gpu Links=-1,4", ignored.BOUND, "Links", "-1,4"),
        ("gpu", "AutoDetect=nvml", ignored.DETECTED, "AutoDetect", "nvml"),
        ("gpu", "NodeName=g1 AutoDetect=rsmi", ignored.DETECTED, "AutoDetect", "rsmi"),
        ("gpu", "NodeName=g1 Name=gpu AutoDetect=rsmi", ignored.DETECTED, "AutoDetect", "rsmi"),
        ("gpu", "Name=gpu Flags=nvidia_gpu_env", ignored.LAUNCH_OF_DEVICES, "Flags", "nvidia_gpu_env"),
        ("gpu,mps", "Name=mps Flags=one_sharing", ignored.PIECES, "Flags", "one_sharing"),
        ("gpu", "Name=gpu Flags=explicit", ignored.WHOLE_NODES, "Flags", "explicit"),
        ("gpu", "Name=gpu Flags=odd", ignored.NOT_MODELLED, "Flags", "odd"),
    ],
)
def test_what_the_slurm_conf_says_otherwise_is_listed(
    tmp_path: Path, gres: str, line: str, why: str, key: str, value: str
) -> None:
    (one,) = left_out(found := site(tmp_path, gres, line))
    assert (one.why, one.key, one.value) == (why, key, value)
    (tmp_path / "gres.conf").unlink()
    assert read_slurm_conf(tmp_path / "slurm.conf").system == found.system


def test_each_flag_is_a_word_of_its_own(tmp_path: Path) -> None:
    found = left_out(site(tmp_path, "gpu", "Name=gpu Flags=CountOnly,amd_gpu_env,explicit"))
    assert [(one.value, one.matters) for one in found] == [
        ("CountOnly", False),
        ("amd_gpu_env", False),
        ("explicit", True),
    ]


FILES = "Name=gpu File=/dev/nvidia[0-1]"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Name", "gres.conf:1: found 'Name'; allowed: Key=Value"),
        ("NodeName=g1 Count=2", "gres.conf:1: Name: found none; allowed: the name of a resource"),
        ("Type=a100 Name=gpu", "gres.conf:1: Type: found at the beginning; allowed: NodeName, Name"),
        ("Name=gpu Typ=a100", "gres.conf:1: Typ: no key of a gres.conf; allowed: Name, Type, Count"),
        ("Name=gpu NodeName=g1", "gres.conf:1: NodeName: no key of a gres.conf"),
        ("\nName=gpu Count=two", "gres.conf:2: Count: found 'two'; allowed: an integer >= 0, also with K"),
        ("Name=gpu Count=-1", "gres.conf:1: Count: found '-1'; allowed: an integer >= 0"),
        (f"{FILES} Count=3", "gres.conf:1: Count: found '3'; allowed: 2, one for each file, or no Count"),
        (
            "Name=gpu File=/dev/nvidia[0-",
            "gres.conf:1: File: found '/dev/nvidia[0-'; allowed: names with closed",
        ),
        (
            "Name=gpu MultipleFiles=/dev/a",
            "gres.conf:1: MultipleFiles: found one file; allowed: several, or File",
        ),
        (
            f"{FILES} MultipleFiles=/dev/a,/dev/b",
            "gres.conf:1: MultipleFiles: found beside File; allowed: one",
        ),
        (
            "NodeName=g[1- Name=gpu",
            "gres.conf:1: NodeName: found 'g[1-'; allowed: names with closed brackets",
        ),
        (f"{FILES}\nName=gpu Count=2", "gres.conf:2: Name=gpu: found on g1 with files here and without at"),
        (f"{FILES}\n{FILES} Type=a", "gres.conf:2: Name=gpu: found on g1 with Type here or at"),
        ("Name=gpu\nNodeName=g3 Name=gpu", "gres.conf:2: Name=gpu: found on g3 again, after"),
        ("Include gone", "gres.conf:1: Include: found 'gone', no such file"),
        ("Include gres.conf", "gres.conf: includes itself"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        site(tmp_path, "gpu:2", text)
    assert said in str(error.value)


@pytest.mark.parametrize("gres", ["gpu:2,gpu:a100:2", "gpu:a100,gpu"])
def test_types_are_said_of_all_pieces_or_of_none(tmp_path: Path, gres: str) -> None:
    with pytest.raises(ConfigError, match="found 'gpu' with a type and without"):
        site(tmp_path, gres, "")


@pytest.mark.parametrize(
    "gres", ["gpu:a100:four", "gpu:a100:-4", "gpu:a100:4.5", "gpu::4", ":4", "gpu:", "gpu:a:b:4"]
)
def test_pieces_that_cannot_be_read_are_told_with_their_line(tmp_path: Path, gres: str) -> None:
    with pytest.raises(ConfigError) as error:
        site(tmp_path, f"nvme:1,{gres}", "")
    assert re.search(rf"slurm.conf:\d+: Gres: found '{gres}'; allowed: name, name:count", str(error.value))


def test_what_is_counted_otherwise_than_in_slurm_is_listed(tmp_path: Path) -> None:
    found = site(tmp_path, "gpu:2,shard:20,mps:200,lustre:no_consume:4M", "")
    told = [(one.value, one.why) for one in found.ignored if one.key == "Gres"]
    assert told == [
        ("gpu:2,shard:20,mps:200,lustre:no_consume:4M", ignored.NEVER_USED_UP),
        ("shard", ignored.PIECES),
        ("mps", ignored.PIECES),
    ]
    assert dict(found.system.modules[0].gres)["lustre"] == 4 << 20


WORDS = st.sampled_from(
    [
        *("Name=gpu", "NodeName=g[1-4]", "NodeName=g[1", "Type=a", "Count=2", "Count=9999999999", "Count=1P"),
        *(
            "File=/dev/x[0-1]",
            "File=[",
            "MultipleFiles=a,b",
            "Cores=0-3",
            "Flags=,,explicit",
            "AutoDetect=nvml",
        ),
        *("Include", "Include x", "=", "Name=", "Name=shard", "#", "\\\n", "\n", "Name=a:b", 'Name="g p"'),
    ]
)
GRES = st.sampled_from(
    ["gpu:2", "gpu:a:1,gpu:b:1", "gpu:a,shard:4", "shard:1P", "gpu::", "gpu:a:no_consume:2"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GRES, st.lists(WORDS | st.just("\n"), max_size=16))
def test_any_text_is_read_or_a_config_error(tmp_path: Path, gres: str, words: list[str]) -> None:
    with suppress(ConfigError):
        site(tmp_path, gres, " ".join(words))


@needs_shared
@pytest.mark.parametrize(("name", "lines"), [("university", []), ("ub_medium", [2, 3])])
def test_sites(name: str, lines: list[int]) -> None:
    found = left_out(read_slurm_conf(SHARED / "data" / "sites" / name / "slurm.conf"))
    assert [(int(one.place.rpartition(":")[2]), one.why) for one in found] == [
        (line, ignored.NOT_IN_GRES) for line in lines
    ]
