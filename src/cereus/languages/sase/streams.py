"""How the queries of a SASE+ text feed one another: no cycles, and an order to run them in."""

from __future__ import annotations

from cereus.errors import RefusedError
from cereus.languages.sase import tree as sase


def check_streams(program: sase.Program) -> None:
    """Check that every stream has one query that writes it, and that no query reads its own
    output."""
    writers: dict[str, sase.Union] = {}
    for union in program.queries:
        if union.stream is None:
            continue
        if union.stream in writers:
            raise RefusedError(
                f"two queries write into the stream {union.stream!r}",
                span=union.blocks[0].output.span,
                hint="join them with UNION",
            )
        writers[union.stream] = union
    for name, union in writers.items():
        path = _cycle(name, writers, ())
        if path:
            raise RefusedError(
                f"streams feed themselves: {' → '.join(path)}",
                span=union.blocks[0].span,
                hint="a query cannot read, even through others, what it emits",
            )


def _cycle(name: str, writers: dict[str, sase.Union], path: tuple[str, ...]) -> tuple[str, ...]:
    """A way from the stream `name` back to itself, against the flow of events; empty if none."""
    if name in path:
        return (name, *reversed(path)) if path[0] == name else ()
    sources = writers[name].sources if name in writers else ()
    ways = (_cycle(source, writers, (*path, name)) for source in sources)
    return next((way for way in ways if way), ())


def in_order(program: sase.Program) -> tuple[sase.Union, ...]:
    """The queries, each after those whose streams it reads."""
    waiting, done = list(program.queries), list[sase.Union]()
    while waiting:
        missing = {union.stream for union in waiting}
        ready = next(union for union in waiting if not missing & set(union.sources))
        waiting.remove(ready)
        done.append(ready)
    return tuple(done)
