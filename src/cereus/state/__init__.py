"""State as bytes: a documented binary format of plain values, arrays and Arrow data.

`codec` writes and reads values, `classes` knows the small classes that states are made of by name,
`checked` asserts that what was read has the shape that its reader relies on (docs/snapshots.md).
"""
