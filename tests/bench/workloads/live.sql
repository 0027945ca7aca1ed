create table t(a integer primary key, b integer, c text);
with recursive n(i) as (select 1 union all select i+1 from n where i<100000)
  insert into t select i, (i*7919)%100003, 'row '||i from n;
select count(*), sum(x.b*y.a%13) from t x join t y on x.b=y.a where x.c like '%7%';
select sum(length(c)), avg(b), max(c) from t where c glob '*9*';
select b%97, count(*), sum(a) from t group by 1 order by 2 desc, 1 limit 3;
with recursive n(i) as (select 1 union all select i+1 from n where i<3000000) select sum(i*i%7) from n;
create index k on t(c);
select count(*) from t x where exists (select 1 from t y where y.c='row '||x.b);
with recursive n(i) as (select 1 union all select i+1 from n where i<3000000) select sum(length(hex(i))) from n;
select group_concat(b) from (select b from t order by c desc limit 5);
