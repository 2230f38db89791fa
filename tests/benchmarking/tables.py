"""Tables as JUBE 2.7.1 wrote them of a made-up benchmark, in each of its styles."""

from __future__ import annotations

from pathlib import Path

PRETTY = """\
result:
| jube_benchmark_start | jube_wp_id | nodes |  size | runtime[s] | Bandwidth, average[MB/s] |
|----------------------|------------|-------|-------|------------|--------------------------|
|  2026-11-26T11:59:06 |          0 |     1 |     1 |        2.5 |                   121.25 |
|  2026-11-26T11:59:06 |          1 |     1 |     1 |        2.7 |                   121.25 |
|  2026-11-26T11:59:06 |          2 |     1 | 16384 |    16385.5 |                   121.25 |
|  2026-11-26T11:59:06 |          3 |     8 |     1 |        9.5 |                   128.25 |
"""

CSV = """\
jube_benchmark_start,nodes,size,runtime[s],bandwidth[MB/s]
2026-11-26T11:59:06,1,1,2.5,121.25
2026-11-26T11:59:06,1,1,2.7,121.25
2026-11-26T11:59:06,1,16384,16385.5,121.25
2026-11-26T11:59:06,8,1,9.5,128.25
"""

ALIGNED = """\
jube_benchmark_start,nodes, size,runtime[s],bandwidth[MB/s]
 2026-11-26T11:59:06,    1,    1,       2.5,         121.25
 2026-11-26T11:59:06,    1,    1,       2.7,         121.25
 2026-11-26T11:59:06,    1,16384,   16385.5,         121.25
 2026-11-26T11:59:06,    8,    1,       9.5,         128.25
"""

TRANSPOSED = """\
nodes;1;1;1;8
size;1;1;16384;1
runtime[s];2.5;2.7;16385.5;9.5
"""

CONFIGURATION = """\
<?xml version="1.0" encoding="UTF-8"?>
<jube version="2.7.1">
  <benchmark name="linktest" file_path_ref="../.." outpath="..">
    <patternset name="pattern">
      <pattern name="runtime" type="float" unit="s">runtime: $jube_pat_fp</pattern>
      <pattern name="bandwidth" type="float" unit="MB/s">bandwidth: $jube_pat_fp</pattern>
    </patternset>
    <result>
      <table name="result" style="pretty" separator="," transpose="False">
        <column>jube_benchmark_start</column>
        <column>nodes</column>
        <column>runtime</column>
        <column title="Bandwidth, average">bandwidth</column>
      </table>
    </result>
  </benchmark>
</jube>
"""


def jube_folder(place: Path, number: int = 0, **tables: str) -> Path:
    """Make the folder of a run of JUBE, with a table a keyword."""
    run = place / f"{number:06}"
    (run / "result").mkdir(parents=True)
    (run / "configuration.xml").write_text(CONFIGURATION)
    (run / "timestamps").write_text("start: 2026-11-26 11:59:06\nchange: 2026-11-26 12:01:00\n")
    for name, text in tables.items():
        (run / "result" / f"{name}.dat").write_text(text)
    return run
