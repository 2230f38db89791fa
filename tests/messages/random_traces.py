"""Random traces that end: what is drawn step by step could also happen step by step."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from tests.messages.plain import IRECV, ISEND, RECV, SEND, WAIT, WAITALL, Record

PS_A_US = 10**6

SMALL = st.integers(0, 40)


@st.composite
def steps(draw: st.DrawFn, most_processes: int = 5, most_steps: int = 25) -> tuple[int, list[Record]]:
    """Draw processes, and records in an order in which all could happen one after the other."""
    processes = draw(st.integers(2, most_processes))
    one = st.integers(0, processes - 1)
    records: list[Record] = []
    open_requests: list[list[int]] = [[] for _ in range(processes)]
    for request in range(draw(st.integers(1, most_steps))):
        kind = draw(st.sampled_from(["compute", "message", "message", "message", "wait", "waitall", "meet"]))
        p = draw(one)
        if kind == "compute":
            records.append(Record(p, "compute", duration=draw(SMALL) * PS_A_US))
        elif kind == "message":
            q = draw(one.filter(lambda other, p=p: other != p))
            size, tag = draw(st.integers(0, 30)), draw(st.integers(0, 1))
            send, receive = draw(st.sampled_from([SEND, ISEND])), draw(st.sampled_from([RECV, IRECV]))
            records.append(Record(p, send, q, size, tag=tag, request=request if send == ISEND else -1))
            records.append(Record(q, receive, p, size, tag=tag, request=request if receive == IRECV else -1))
            open_requests[p] += [request] * (send == ISEND)
            open_requests[q] += [request] * (receive == IRECV)
        elif kind == "wait" and open_requests[p]:
            chosen = draw(st.sampled_from(open_requests[p]))
            open_requests[p].remove(chosen)
            records.append(Record(p, WAIT, request=chosen))
        elif kind == "waitall":
            open_requests[p] = []
            records.append(Record(p, WAITALL))
        elif kind == "meet":
            members = tuple(sorted(draw(st.sets(one, min_size=1))))
            records += [Record(member, "barrier", members=members) for member in members]
    return processes, [*records, Record(processes - 1, "compute")]


def write(records: list[Record], path: Path) -> Path:
    """Write records as a table."""
    lines = ["process,kind,peer,bytes,seconds,tag,request"]
    for r in records:
        cells = [str(r.process), r.kind, "", "", "", "", str(r.request) if r.request >= 0 else ""]
        if r.kind == "compute":
            cells[4] = f"{r.duration // PS_A_US}e-6"
        elif r.kind == "barrier":
            cells[2] = " ".join(map(str, r.members))
        elif r.peer >= 0:
            cells[2], cells[3], cells[5] = str(r.peer), str(r.bytes), str(r.tag)
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return path
