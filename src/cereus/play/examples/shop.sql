-- What each person did, from the first look to the payment.
MATCH_RECOGNIZE (
  PARTITION BY user
  ORDER BY ts
  MEASURES LAST(pay.item) AS item, LAST(pay.price) AS paid, count(look.*) AS looks
  ONE ROW PER MATCH
  PATTERN (look+ basket pay)
  DEFINE look AS type = 'VIEW', basket AS type = 'BASKET', pay AS type = 'PAY'
)
