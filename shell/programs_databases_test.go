package shell

import (
	"strings"
	"testing"
)

// Statements that only look run unasked, like looking at a cluster. A statement that writes,
// runs, reaches a file or has different meanings in different databases asks.
func TestStatementsOfDatabases(t *testing.T) {
	t.Parallel()
	tests := []struct {
		lines   string
		unasked bool
	}{
		{`
psql -c 'select 1'
psql -d app -c 'SELECT u.id, count(*) FROM u JOIN p ON p.u = u.id GROUP BY 1 HAVING count(*) > 3 ORDER BY 2 LIMIT 10;'
psql -d app -tAc "SELECT data->>'name' FROM t WHERE created_at > now() - interval '1 day'"
psql app -c "WITH x AS (SELECT id::text FROM t) SELECT * FROM x WHERE id IN ('a', 'it''s')"
psql -c 'select 1; select 2'
psql -c 'EXPLAIN ANALYZE SELECT * FROM t'
psql -c 'show search_path'
psql -c '\dt'
psql -c '\d+ public.users'
psql -l
psql -h localhost -c '\l'
psql -c "select * from t where mail like '%@example.com' and tags[1] = '-- x /* y'"
sqlite3 app.db "select json_extract(data, '$.name') from t"
mysql -e 'select ` + "`a`" + ` from t' app
echo 'select 1' | psql app
psql app <<< 'select count(*) from t'
mysql -e 'SELECT * FROM t LIMIT 1' app
mysql -u root -e 'show create table t' app
mysql -e 'describe t' app
mysql -e 'use app; show tables'
mariadb -N -e 'select count(*) from t where x like "a%"' app
sqlite3 app.db .tables
sqlite3 app.db '.schema users'
sqlite3 -readonly -header app.db 'select a, b from t order by a limit 5'
sqlite3 app.db 'pragma table_info(t)' 'select 1'
sqlite3 app.db 'pragma user_version'
echo .tables | sqlite3 app.db
sqlite3 app.db <<< 'select json_extract(x, "a") from t'
redis-cli get x
redis-cli -n 2 --raw hgetall user:1
redis-cli ping
`, true},
		{`
psql
psql -f x.sql
psql -c "$Q"
psql -c 'drop table t'
psql -c 'select 1; drop table t'
psql -c 'WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x'
psql -c "COPY t TO PROGRAM './x'"
psql -c "select pg_read_file('/etc/passwd')"
psql -c "select pg_catalog.pg_read_file('x')"
psql -c 'select "pg_read_file" ($$/etc/passwd$$)'
psql -c "select lo_export(1, '/tmp/x')"
psql -c "select nextval('s')"
psql -c "select set_config('a', 'b', false)"
psql -c 'select * into x from t'
psql -c 'select * from t for update'
psql -c "select dblink('x', 'y')"
psql -c "select query_to_xml('delete from t', true, true, '')"
psql -c 'EXPLAIN ANALYZE DELETE FROM t'
psql -c 'select 1 \gexec'
psql -c '\! ls'
psql -c '\copy t to x'
psql -c '\o x'
psql -c '\i x.sql'
psql -c '\d ` + "`./x`" + `'
psql -c "select E'\\'; drop table t; --'"
psql -c 'select 1 -- ; drop table t'
psql -c 'select 1 /* x */'
psql -c 'select :x'
psql -c 'select ` + "`; drop table t; `" + `'
sqlite3 app.db "select [a'], 1; drop table t; select [b']"
mysql -e "select [a'], 1; drop table t; select [b']"
psql -v x=y -c 'select 1'
psql -c 'select 1' -o out
psql -c 'select 1' -L log
psql -h db.example.com -c 'select 1'
psql postgres://u@db.example.com/x -c 'select 1'
psql -d 'host=evil' -c 'select 1'
psql "host=evil dbname=x" -c 'select 1'
psql -c 'select 1' -f x.sql
psql -c 'set x = 1'
psql -c 'call p()'
psql -c 'vacuum'
psql -c 'begin; select 1'
psql --pset=x --surprise -c 'select 1'
cat q.sql | psql
psql < q.sql
mysql -e 'select 1 into outfile "/tmp/x"'
mysql -e "select load_file ('/etc/passwd')"
mysql -e 'system ls'
mysql -e 'select 1
system ls'
mysql -e '\! ls'
mysql -e 'select 1; source x'
mysql -e 'select sleep(100)'
mysql -e 'select 1 /*!50000 into outfile "x" */'
mysql -e "select 'a' # x"
mysql -e 'set global x = 1'
mysql -e 'desc analyze update t set a = 1'
mysql -e 'grant all on *.* to x'
mysql --pager=./x -e 'select 1'
mysql --tee=x -e 'select 1'
mysql -h db.example.com -e 'select 1'
mysql --init-command='drop table t' -e 'select 1'
mysql --defaults-file=x -e 'select 1'
mysql app < x.sql
sqlite3 app.db
sqlite3 app.db .dump '.output x'
sqlite3 app.db '.shell ls'
sqlite3 app.db '.once |sh'
sqlite3 app.db '.read x'
sqlite3 app.db '.load ./x'
sqlite3 app.db '.import x t'
sqlite3 app.db "select load_extension('./x')"
sqlite3 app.db "select writefile('x', 'y')"
sqlite3 app.db "select readfile('/etc/passwd')"
sqlite3 app.db "select * from fsdir where path = '/etc'"
sqlite3 app.db "select * from 'fsdir' where path = '/etc'"
sqlite3 app.db 'pragma user_version = 3'
sqlite3 app.db 'pragma journal_mode(wal)'
sqlite3 app.db "attach 'x' as y"
sqlite3 app.db 'insert into t values (1)'
sqlite3 app.db 'replace into t values (1)'
sqlite3 app.db -cmd '.shell ls' 'select 1'
sqlite3 -init x app.db 'select 1'
sqlite3 /etc/app.db .tables
sqlite3 app.db < x.sql
redis-cli set x y
redis-cli flushall
redis-cli eval 'return 1' 0
redis-cli -h redis.example.com get x
redis-cli -x get
redis-cli
duckdb app.db "select * from '/etc/passwd'"
`, false},
	}
	for _, tt := range tests {
		for _, line := range sqlLines(tt.lines) {
			if got := runsUnasked(line); got != tt.unasked {
				t.Errorf("%q runs unasked: %v: %+v", line, got, Parse(line, neverSafeEnv))
			}
		}
	}
}

// sqlLines returns the lines of a list; a line with an open quote continues.
func sqlLines(list string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		if n := len(out); line == "system ls'" {
			out[n-1] += "\n" + line
			continue
		}
		out = append(out, line)
	}
	return out
}
