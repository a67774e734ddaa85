package shell

import (
	"strings"

	"github.com/umpirehq/umpire"
)

// databases are the clients of databases. What their statements do is not read:
// any of them can write files or start programs.
var databases = []program{
	{names: "sqlite3 sqlite duckdb", risk: umpire.Medium, why: "runs statements on a database", style: words, check: checkSQLite, lax: true, opts: []option{
		{names: "-version --version -help --help", does: shows}, {names: "-init= --init= -f=", does: reads | obeys, why: "runs a file of statements"}, {names: "-cmd= -c=", does: asks, why: "runs a command of its own"},
		{names: "-readonly --readonly -header -noheader -csv -json -line -column -list -table -box -markdown -html -batch -bail -echo -stats -safe"}, {names: "-separator= -newline= -nullvalue= -mode= -vfs= -maxsize= -mmap= -lookaside="}, {names: "-A", does: asks, why: "works on an archive"},
	}},
	{names: "psql pgcli cockroach", risk: umpire.Medium, why: "runs statements on a database", lax: true, opts: []option{
		{names: "--version -V --help", does: shows}, {names: "-f= --file=", does: reads, why: "runs a file of statements"}, {names: "-o= --output= -L= --log-file=", does: writes},
		{names: "-c= --command= -d= --dbname= -U= --username= -v= --set= --variable= -P= --pset= -F= -R= -T= -p= --port="}, {names: "-h= --host=", does: reaches, why: "talks to a database there"},
	}},
	{names: "mysql mariadb mycli", risk: umpire.Medium, why: "runs statements on a database", lax: true, opts: []option{
		{names: "--version -V --help", does: shows}, {names: "-e= --execute= -u= --user= -D= --database= -P= --port= -p? --password?"}, {names: "-h= --host=", does: reaches, why: "talks to a database there"}, {names: "--tee=", does: writes},
		{names: "--defaults-file= --defaults-extra-file= --plugin-dir= --init-command=", does: obeys, why: "obeys another configuration"}, {names: "--pager=", does: runs},
	}},
	{names: "redis-cli valkey-cli", risk: umpire.Medium, why: "runs commands on a database", style: leading, lax: true, opts: []option{
		{names: "--version -v --help", does: shows}, {names: "-h=", does: reaches, why: "talks to a database there"}, {names: "-p= -n= -a= -u= -r= -i="}, {names: "--eval=", does: reads | asks, why: "runs a script"},
		{names: "--rdb=", does: writes},
	}, check: checkRedis},
	{names: "mongosh mongo cqlsh clickhouse clickhouse-client influx isql usql sqlplus sqlcmd cypher-shell etcdctl consul vault-db tarantool", risk: umpire.Medium, why: "runs statements on a database", lax: true, opts: []option{{names: "--version --help", does: shows}, {names: "-f= --file=", does: reads}}},
	{names: "pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport", risk: umpire.Medium, why: "copies a database", lax: true, opts: []option{{names: "--version -V --help", does: shows}, {names: "-f= --file= -o= --out= -r= --result-file= --archive=", does: writes}, {names: "-h= --host=", does: reaches, why: "talks to a database there"}, {names: "-U= -d= -u= -p? -P= -t= -n= -T="}}},
	{names: "pg_restore mongorestore mongoimport mysqladmin createdb dropdb createuser dropuser initdb pg_ctl mysqlimport", risk: umpire.High, why: "changes or deletes databases", lax: true, opts: []option{{names: "--version -V --help", does: shows}}},
}

// checkSQLite notes the database, which is a file or a URI of one.
func checkSQLite(u *use) {
	if len(u.operands) == 0 {
		return
	}
	db := u.operands[0]
	u.operands = nil
	if db.text == ":memory:" {
		return
	}
	kind := umpire.KindWrite
	if u.gave("-readonly", "--readonly") {
		kind = umpire.KindRead
	}
	if strings.HasPrefix(db.text, "file:") {
		db = db.cut(len("file:"))
		name, query, _ := strings.Cut(db.text, "?")
		if strings.Contains(query, "mode=ro") || strings.Contains(query, "immutable=1") {
			kind = umpire.KindRead
		}
		db.text = name
	}
	u.touch(kind, db, accessOf{why: "the database"})
}

// checkRedis makes the commands that lose all data, or configure the server, worse.
func checkRedis(u *use) {
	if len(u.operands) == 0 {
		return
	}
	const harmful = "flushall flushdb FLUSHALL FLUSHDB config CONFIG shutdown SHUTDOWN debug DEBUG module MODULE slaveof SLAVEOF replicaof REPLICAOF eval EVAL"
	if name := u.operands[0]; !name.known() || hasField(harmful, name.text) {
		u.raise(umpire.High, "loses data or configures the server")
	}
}
