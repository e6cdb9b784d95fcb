"""The kernel: classified events in, matches out. Everything here but `layout` is compiled."""

from cereus.compiled import all_or_none, obey_pure

obey_pure(__path__)  # before any other module of this package is imported
all_or_none(
    __name__,
    (
        "terms_vm",
        "stepper",
        "scopes",
        "limited",
        "keyed",
        "kernel",
        "counting",
        "choosing",
        "gathering",
        "watching",
    ),
)
