-- SPDX-License-Identifier: MIT
-- Tables, indices, joins and groups in SQLite: people and what they bought, made from numbers.
create table person(id integer primary key, name text, town integer);
create table purchase(id integer primary key, person integer, what text, price real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
	insert into person select i, 'name ' || (i * 7919 % 10007), i * 31 % 53 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
	insert into purchase select i, 1 + i * 48271 % 5000, 'thing ' || (i * 16807 % 997), (i * 69621 % 9973) / 10.0
	from n;
create index by_name on person(name);
create index by_person on purchase(person);
create index by_what on purchase(what, price);
select town, count(*), round(sum(price), 1) from person join purchase on purchase.person = person.id
	group by town order by 3 desc limit 3;
select what, max(price), min(price) from purchase where what like '%7%' group by what order by what limit 3;
select count(*) from person a join person b on b.name = a.name and b.town <> a.town;
update purchase set price = price * 1.1 where person in (select id from person where town < 9);
delete from purchase where what between 'thing 3' and 'thing 4';
select count(*), round(avg(price), 3) from purchase;
select name, (select count(*) from purchase where person = person.id) c from person order by c desc, name limit 3;
select p.person, round(sum(p.price) over (partition by p.person order by p.id), 2) s from purchase p
	order by s desc limit 3;
