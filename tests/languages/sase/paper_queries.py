"""Queries 1–5 of the paper, character for character."""

from __future__ import annotations

QUERY_1 = """
PATTERN SEQ(NEWS a, STOCK+ b[])
WHERE a.type = 'bad' ^ b[i].symbol = 'GOOG'
WITHIN 4 hours
RETURN sum(b[].volume)
"""

QUERY_2 = """
PATTERN SEQ(STOCK+ a[ ])
WHERE skip_till_next_match(a[ ]!)
{ [symbol] ^
  a[1].price = 10 ^
  a[i].price > a[i-1].price ^
  a[a.LEN].price = 20 }
WITHIN 1 hour
HAVING avg(a[].volume) ≥ a[1].volume
RETURN a[1].symbol, a[1].price
"""

QUERY_3 = """
PATTERN SEQ(STOCK+ a[ ], STOCK b)
WHERE skip_till_next_match(a[ ]!, b)
{ [symbol] ^
  a[1].volume > 1000 ^
  a[i].price > avg(a[..i-1].price) ^
  b.volume < 80% * a[a.LEN].volume }
WITHIN 1 hour
RETURN a[1].symbol, a[1].(price,volume),
       b.(price,volume)
"""

QUERY_4 = """
PATTERN SEQ(SCAN a, ~(SCAN+ b[ ]), SCAN c)
WHERE partition_contiguity(a, b[ ], c)
  { [object_id] ^
    a.location = 'New York' ^
    c.location = 'Amherst' ^
    b[1].location = a.next ^
    b[i].location = b[i-1].next ^
    c.location = b[b.LEN].next ^
    b.LEN ≤ 3}
RETURN c.object_id, c.courier_id
AS ANOMALY(object_id, courier_id)
IN STREAM Q4-OUTPUT
"""

QUERY_5 = """
FROM Q4-OUTPUT
PATTERN SEQ(ANOMALY+ a[])
WHERE partition_contiguity(a[])
      { [courier_id] }
WITHIN 1 week
HAVING count(a[]) ≥ 10
RETURN a[1].courier_id, a[].object_id
"""

QUERIES = (QUERY_1, QUERY_2, QUERY_3, QUERY_4, QUERY_5)
