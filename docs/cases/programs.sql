-- SPDX-License-Identifier: MIT
-- A table that joins itself by an index, groups of names, and a pattern: what docs/cases/programs.md has sqlite3 do.
CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1500000)
INSERT INTO t SELECT i, (i * 7919) % 100003, 'name ' || ((i * 31) % 5003) FROM n;
CREATE INDEX tk ON t(k);
SELECT count(*), sum(a.id) FROM t a JOIN t b ON b.k = a.k + 1 WHERE a.id % 3 = 0;
SELECT name, count(*) c, sum(k) FROM t GROUP BY name ORDER BY c DESC, name LIMIT 3;
SELECT count(*) FROM t WHERE name LIKE '%99%';
