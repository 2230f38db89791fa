"""What the text fields of MWF mean: missing markers, API calls, frequencies."""

from __future__ import annotations

import re

from scheduler_sim.errors import TraceError

_MISSING = frozenset({"", "-1", "na", "no", "none"})
_CALL = re.compile(r"(?:(?P<event>[A-Za-z_][A-Za-z0-9_]*):)?(?P<seconds>[0-9]{1,15})")
_FREQUENCY = re.compile(r"-1|[0-9]{1,15}(,[0-9]{1,15})?")

#: Event meant by an API call given as a bare number.
DEFAULT_EVENT = "WF_API"


def is_missing(text: str) -> bool:
    """Whether a text field says nothing: empty, -1, NA, no or none, in any case."""
    return text.strip().lower() in _MISSING


def parse_api_calls(text: str) -> tuple[tuple[str, int], ...]:
    """Return the (event, seconds after the component's start) pairs of an API call field.

    Examples
    --------
    >>> parse_api_calls("650")
    (('WF_API', 650),)
    >>> parse_api_calls("WF_API:650,extend_job:850")
    (('WF_API', 650), ('extend_job', 850))
    >>> parse_api_calls("-1")
    ()

    A bare 0 means none, too.
    """
    if is_missing(text) or text.strip() == "0":
        return ()
    return tuple(_call(part.strip(), text) for part in text.split(","))


def check_frequency(text: str) -> None:
    """Raise unless ``text`` is missing, one frequency in kHz, or ``min,max``."""
    if not (is_missing(text) or _FREQUENCY.fullmatch(text)):
        raise TraceError("not a frequency", found=text, allowed="kHz as one number, or min,max; -1 = none")


def _call(part: str, text: str) -> tuple[str, int]:
    match = _CALL.fullmatch(part)
    if not match:
        raise TraceError(
            "not an API call",
            found=text,
            allowed="seconds, or a list of event:seconds such as WF_API:650,extend_job:850; -1 = none",
        )
    return match["event"] or DEFAULT_EVENT, int(match["seconds"])
