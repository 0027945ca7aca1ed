-- SPDX-License-Identifier: MIT
-- Two tables made out of nothing, then a join with groups, order and a text condition: what a database does all day.
CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, region INTEGER);
CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, day INTEGER, amount REAL, note TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
INSERT INTO customers SELECT i, printf('customer %d of %d', i, i * 7919 % 1000), i * 31 % 12 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000)
INSERT INTO orders
SELECT i, i * 48271 % 50000 + 1, i % 365, i * 16807 % 99991 / 100.0, 'note ' || (i * 69621 % 4099) FROM n;
CREATE INDEX orders_by_customer ON orders(customer);
SELECT region, day / 30, count(*), round(sum(amount), 2), max(name)
FROM orders JOIN customers ON customers.id = orders.customer
WHERE note LIKE '%7%' GROUP BY region, day / 30 ORDER BY 4 DESC LIMIT 5;
SELECT c.name, t.total FROM customers c JOIN
(SELECT customer, sum(amount) AS total FROM orders GROUP BY customer HAVING count(*) > 20) t ON t.customer = c.id
ORDER BY t.total DESC, c.name LIMIT 5;
