"""The process that runs queries: a request per line on standard input, an answer per line on
standard output. It limits its memory itself; its parent ends it when time is up."""

from __future__ import annotations

import json
import os
import sys
import warnings
from contextlib import suppress
from typing import Any, TextIO

from cereus.errors import CereusError
from cereus.play.answers import answer
from cereus.play.data import GivenFiles, PlayData
from cereus.show.timeline import altair_module
from cereus.writing.json_text import json_text


def limit_memory(megabytes: int) -> None:
    """Limit the memory to this much more than is in use now. Not every system can: then only time
    is limited."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        used = _in_use(resource)
        most = used + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def _in_use(resource: Any) -> int:
    """The bytes of data in use, as the limit counts them; Linux reports them, elsewhere this is an
    upper bound."""
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as status:
        return int(status.read().split()[5]) * int(resource.getpagesize())
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def serve(requests: TextIO, replies: TextIO, events: PlayData) -> None:
    for line in requests:
        request = json.loads(line)
        reply = answer(request["ask"], request["given"], events)
        replies.write(json_text(reply) + "\n")
        replies.flush()
        if reply.get("end"):
            return


def main(settings: dict[str, Any]) -> None:
    # output of a library must not come between the answers
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")  # answers have them as notes
    given = {**settings["files"], "paths": tuple(settings["files"]["paths"])}
    given["keys"] = tuple(given["keys"])
    events = PlayData(GivenFiles(**given), settings["rows"], settings["uploads"])
    for name in events.names:
        events.of(name)
    with suppress(CereusError):
        altair_module()  # the first answer need not wait for it
    limit_memory(settings["megabytes"])
    replies.write(json.dumps({"ready": True}) + "\n")
    replies.flush()
    serve(sys.stdin, replies, events)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
