-- A V: the price of a name falls at least three times in a row, and then rises twice.
MATCH_RECOGNIZE (
  PARTITION BY name
  ORDER BY ts
  MEASURES FIRST(down.price) AS top, LAST(down.price) AS bottom, LAST(up.price) AS price_after
  ONE ROW PER MATCH
  PATTERN (down{3,} up{2,})
  DEFINE down AS price < PREV(price), up AS price > PREV(price)
)
