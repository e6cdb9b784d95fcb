-- From the first reading that is warmer than the one before, as long as it grows warmer.
MATCH_RECOGNIZE (
  PARTITION BY machine
  ORDER BY ts
  MEASURES FIRST(up.temperature) AS low, LAST(up.temperature) AS high, count(*) AS readings
  ONE ROW PER MATCH
  PATTERN (up{4,} alarm)
  DEFINE up AS type = 'READING' AND temperature > PREV(temperature), alarm AS type = 'ALARM'
)
