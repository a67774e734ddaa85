package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

// databases are the clients of databases. Statements that are not read count as able to write
// files or start programs.
var databases = []program{
	// safe: sqlite3 a.db .tables
	// asks: sqlite3 a.db '.shell ls'
	{
		names: "sqlite3 sqlite", risk: umpire.Medium, consequence: lost, why: runsStatements, style: words,
		check: checkSQLite, about: "-version --version -help --help", opts: []option{
			{values: "-init --init", does: reads | obeys, why: "runs a file of statements"},
			{values: "-cmd --cmd", does: asks, consequence: lost, why: "runs its own command"},
			{flags: "-readonly --readonly", why: "only looks"},
			{flags: "-header --header -noheader --noheader -csv --csv -json --json -line --line -column --column " +
				"-list --list -table --table -box --box -markdown --markdown -html -tabs -ascii -quote -batch " +
				"--batch -bail --bail -echo --echo -stats -safe --safe -nofollow -interactive"},
			{values: "-separator --separator -newline -nullvalue --nullvalue -maxsize -mmap -lookaside -pagecache",
				does: plain},
			{flags: "-A -append -deserialize -unsafe-testing", values: "-vfs", does: asks, consequence: lost,
				why: "works on an archive, or on other files"},
		},
	},
	// safe: duckdb --version
	// asks: duckdb a.db
	{
		names: "duckdb", risk: umpire.Medium, consequence: lost, why: runsStatements, style: words, check: checkDuckDB,
		about: "-version --version -help --help", opts: []option{
			{values: "-init -f", does: reads | obeys, why: "runs a file of statements"},
			{values: "-c -cmd", does: asks, consequence: lost, why: "runs statements"},
			{flags: "-readonly --readonly", why: "only looks"},
			{flags: "-header -noheader -csv -json -line -column -list -table -box -markdown -html -batch -bail -echo",
				values: "-separator -newline -nullvalue", does: plain},
		},
	},
	// safe: psql -c 'select 1'
	// asks: psql -c 'drop table t'
	{names: "psql", risk: umpire.Medium, consequence: lost, why: runsStatements, check: checkPsql, opts: []option{
		{values: "-f --file", does: reads | asks, consequence: lost, why: "runs a file of statements"},
		{values: "-o --output -L --log-file", does: writes},
		{values: "-c --command", does: plain}, {flags: "-l --list", why: "lists databases"},
		{values: "-d --dbname", does: plain},
		{values: "-h --host", does: reaches, why: talksTo, limits: &limits{except: "localhost 127.0.0.1 ::1"}},
		{values: "-U --username -p --port -P --pset -F --field-separator -R --record-separator -T --table-attr",
			does: plain},
		{values: "-v --set --variable", does: asks, consequence: lost, why: "sets a variable of the client"},
		{flags: "-a -b -e -E -A -H -n -q -s -S -t -x -X -z -0 -1 -w -W --echo-all --echo-errors --echo-queries " +
			"--echo-hidden --no-align --csv --html --no-readline --quiet --single-step --single-line --tuples-only " +
			"--expanded --no-psqlrc --field-separator-zero --record-separator-zero --single-transaction " +
			"--no-password --password"},
	}, about: "--version -V --help"},
	// safe: mysql -e 'select 1'
	// asks: mysql -e 'drop table t'
	{
		names: "mysql mariadb", risk: umpire.Medium, consequence: lost, why: runsStatements, check: checkMySQL,
		about: "--version -V --help -I", opts: []option{
			{values: "-e --execute", does: plain},
			{flags: "--connect-expired-password", values: "-u --user -D --database -P --port --protocol " +
				"--default-character-set --connect-timeout --login-path --max-allowed-packet",
				attached: "-p --password", does: plain},
			{values: "-h --host", does: reaches, why: talksTo, limits: &limits{except: "localhost 127.0.0.1 ::1"}},
			{values: "-S --socket", does: reads}, {values: "--tee", does: writes},
			{flags: "-B -N -t -E -H -X -s -v -r -n -q -C -A -b -f -i --batch --skip-column-names --column-names " +
				"--table --vertical --html --xml --silent --verbose --raw --unbuffered --quick --compress " +
				"--no-auto-rehash --skip-auto-rehash --force --no-beep --ssl --skip-ssl --safe-updates --comments " +
				"--skip-comments --line-numbers --show-warnings"},
			{values: "--defaults-file --defaults-extra-file --defaults-group-suffix --plugin-dir --default-auth " +
				"--init-command", does: obeys, why: "obeys another configuration"},
			{values: "--pager", does: runs},
			{flags: "--named-commands --binary-mode", values: "--delimiter", attached: "--local-infile", does: asks,
				consequence: lost, why: "changes how statements are read"},
		},
	},
	// safe: pg_isready -h localhost
	// asks: pg_isready -h evil.example
	{names: "pg_isready", risk: umpire.Low, why: "asks whether a server is there", args: "none", opts: []option{
		{values: "-h --host", does: asks, consequence: sent, why: "asks another host",
			limits: &limits{except: "localhost 127.0.0.1 ::1"}},
		{flags: "-q --quiet", values: "-p --port -U --username -t --timeout", does: plain},
	}, about: "-V --version --help"},
	// safe: pg_config --version
	// asks: pg_config x
	{
		names: "pg_config", risk: umpire.Safe, why: "tells about an installation", style: words, args: "none",
		opts: []option{
			{flags: "--bindir --docdir --htmldir --includedir --pkgincludedir --includedir-server --libdir " +
				"--pkglibdir --localedir --mandir --sharedir --sysconfdir --pgxs --configure --cc --cppflags " +
				"--cflags --ldflags --libs --version --help"},
		},
	},
	{
		names: "pgcli cockroach mycli", risk: umpire.Medium, consequence: lost, why: runsStatements, lax: true,
		about: "--version -V --help", opts: []option{
			{values: "-f --file", does: reads, why: "runs a file of statements"},
			{values: "-c -e --execute --command -d --dbname -U --username -u --user -D --database -P -p --port",
				does: plain},
			{values: "-h --host", does: reaches, why: talksTo},
		},
	},
	// safe: redis-cli get x
	// safe: redis-cli --bigkeys
	// asks: redis-cli flushall
	{
		names: "redis-cli valkey-cli", risk: umpire.Medium, consequence: lost, why: "runs commands on a database",
		style: leading, about: "--version -v --help", opts: []option{
			{values: "-h", does: reaches, why: talksTo, limits: &limits{except: "localhost 127.0.0.1 ::1"}},
			{values: "-u --uri", does: asks, consequence: sent, why: talksTo},
			{flags: "-3 -2 --raw --no-raw --csv --json --quoted-json --no-auth-warning --scan --stat --latency " +
				"--bigkeys --memkeys --hotkeys -e", values: "-p -n -a --pass --user -r -i --pattern --count",
				does: plain},
			{values: "--eval", does: reads | asks, consequence: lost, why: "runs a script"},
			{flags: "-x --pipe --cluster --ldb --ldb-sync-mode --replica --tls",
				values: "-X --intrinsic-latency --functions-rdb --sni --cacert --cert --key", does: asks,
				consequence: sent, why: "sends its input, or works in another way"},
			{values: "--rdb", does: writes},
		},
		check: checkRedis,
	},
	{
		names: "mongosh mongo cqlsh clickhouse clickhouse-client influx isql usql sqlplus sqlcmd cypher-shell " +
			"etcdctl consul vault-db tarantool",
		risk: umpire.Medium, consequence: lost, why: "runs statements on a database", lax: true,
		about: "--version --help", opts: []option{{values: "-f --file", does: reads}},
	},
	{
		names: "pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport", risk: umpire.Medium,
		consequence: sent, why: "copies a database", lax: true, about: "--version -V --help", opts: []option{
			{values: "-f --file -o --out -r --result-file --archive", does: writes},
			{values: "-h --host", does: reaches, why: "talks to a database there"},
			{values: "-U -d -u -P -t -n -T", attached: "-p", does: plain},
		},
	},
	{
		names: "pg_restore mongorestore mongoimport mysqladmin createdb dropdb createuser dropuser initdb pg_ctl " +
			"mysqlimport",
		risk: umpire.High, consequence: lost, why: "changes or deletes databases", lax: true,
		about: "--version -V --help",
	},
}

const (
	runsStatements  = "runs statements on a database"
	onlyLooksAtData = "only looks at a database"
	talksTo         = "talks to a database there"
)

// lowerToDataLook makes a use harmless, as looking at a cluster is.
func lowerToDataLook(u *use) {
	if len(u.unknown) == 0 && !u.doubtful && u.spoke == "" {
		u.become(umpire.Low, onlyLooksAtData)
	}
}

// checkSQLite judges the arguments after the database: statements, and commands of the program
// itself, which begin with a dot.
func checkSQLite(u *use) {
	if len(u.operands) == 0 {
		return
	}
	lines := u.operands[1:]
	if len(lines) == 0 && u.in.kind == flowText {
		lines = sqliteLines(u.in.text)
	}
	walkEscapes(u, sqliteEscapes, append(u.valuesOf("-cmd"), lines...)...)
	looks := len(lines) > 0
	for _, line := range lines {
		looks = looks && line.known() && (sqliteLooks(line.text) || scan.SQLite.OnlyLooks(line.text))
	}
	if looks {
		lowerToDataLook(u)
	}
	checkDatabase(u)
}

// checkDuckDB judges the code that duckdb passes to a shell; its statements ask.
func checkDuckDB(u *use) {
	walkEscapes(u, sqliteEscapes, append(u.valuesOf("-c"), u.operands...)...)
	checkDatabase(u)
}

// sqliteLines splits an input: each command is on a separate line.
func sqliteLines(text string) []word {
	var out []word
	var statements strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), ".") {
			out = append(out, lit(strings.TrimSpace(line)))
			continue
		}
		statements.WriteString(line)
	}
	if strings.TrimSpace(statements.String()) != "" {
		out = append(out, lit(statements.String()))
	}
	return out
}

// sqliteLooks reports whether a command of sqlite3 only prints or formats its output.
func sqliteLooks(line string) bool {
	const looking = ".tables .schema .fullschema .indexes .indices .databases .dbinfo .headers .header .mode .width " +
		".nullvalue .separator .show .help .dump .bail .echo .timer .eqp .changes .stats .limit .version .lint " +
		".sha3sum .dbconfig"
	fields := strings.Fields(line)
	return len(fields) > 0 && scan.HasField(looking, fields[0]) && !strings.ContainsAny(line, "\n|`\\") &&
		(fields[0] != ".dbconfig" || len(fields) == 1)
}

// checkDatabase records the database, which is a file or a file URI.
func checkDatabase(u *use) {
	if len(u.operands) == 0 {
		return
	}
	db := u.operands[0]
	u.operands = nil
	if db.text == ":memory:" {
		return
	}
	kind := umpire.KindWrite
	if u.gave("-readonly", "--readonly") || u.why == onlyLooksAtData {
		kind = umpire.KindRead
	}
	if strings.HasPrefix(db.text, "file:") {
		db = db.cut(len("file:"))
		name, query, _ := strings.Cut(db.text, "?")
		if strings.Contains(query, "mode=ro") || strings.Contains(query, "immutable=1") {
			kind = umpire.KindRead
		} else if strings.Contains(query, "mode=rw") {
			kind = umpire.KindWrite // rwc creates the file for any statement
		}
		db.text = name
	}
	u.touch(kind, db, accessOf{why: "the database"})
}

// checkPsql judges the statements of psql. The client itself reads its input, where its
// commands begin with a backslash, which no accepted statement contains.
func checkPsql(u *use) {
	named := u.operands
	if db := u.got("--dbname"); db != nil && db.has {
		named = append(slices.Clip(named), db.value)
	}
	for _, db := range named {
		if db.open || strings.ContainsAny(db.text, "=:/") {
			u.raise(umpire.Medium, umpire.Say("connects as %s says", db.display()))
			u.spoke = "--dbname"
		}
	}
	u.operands = nil
	walkEscapes(u, psqlEscapes, append(u.valuesOf("--command"), lit(u.in.text))...)
	switch commands := u.valuesOf("--command"); {
	case len(commands) > 0:
		judgeStatements(u, scan.Postgres, commands, psqlLooks)
	case u.got("--list") != nil:
		lowerToDataLook(u)
	case u.in.kind == flowText:
		judgeStatements(u, scan.Postgres, []word{lit(u.in.text)}, nil)
	}
}

// psqlLooks reports whether a command of psql only prints.
func psqlLooks(command string) bool {
	fields := strings.Fields(command)
	if len(fields) == 0 || strings.ContainsAny(command[1:], "\\`|\n:") {
		return false
	}
	name := strings.TrimRight(fields[0], "+Sx")
	describes := strings.HasPrefix(name, `\d`) && len(name) <= 5 &&
		strings.Trim(name[2:], "abcdDeEfFgiklLmnoOpPrRstTuvwxXy") == ""
	return describes || scan.HasField(`\l \list \z \dp \conninfo \encoding \sf \sv \echo \?`, name)
}

// checkMySQL judges the statements of mysql. Its client takes a word at the beginning of a line
// for a client command.
func checkMySQL(u *use) {
	u.operands = nil
	walkEscapes(u, mysqlEscapes, append(u.valuesOf("--execute"), lit(u.in.text))...)
	switch commands := u.valuesOf("--execute"); {
	case len(commands) > 0:
		judgeStatements(u, scan.MySQL, commands, nil)
	case u.in.kind == flowText:
		judgeStatements(u, scan.MySQL, []word{lit(u.in.text)}, nil)
	}
	for _, name := range [...]string{
		"source", "system", "tee", "pager", "edit", "delimiter", "connect", "resetconnection", "notee", "nopager",
	} {
		for _, text := range append(u.valuesOf("--execute"), lit(u.in.text)) {
			for line := range strings.Lines(text.text) {
				if u.why == onlyLooksAtData && strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), name) {
					u.become(umpire.Medium, umpire.Say("may run the client's command %s", name))
				}
			}
		}
	}
}

// valuesOf returns the values of an option that may be given several times.
func (a *arguments) valuesOf(name string) []word {
	var out []word
	for _, g := range a.given {
		if g.has && g.means(name) {
			out = append(out, g.value)
		}
	}
	return out
}

// judgeStatements makes the use harmless if all texts only look.
func judgeStatements(u *use, d scan.SQLDialect, texts []word, command func(string) bool) {
	for _, text := range texts {
		ours := command != nil && strings.HasPrefix(text.text, `\`) && command(text.text)
		if !text.known() || !ours && !d.OnlyLooks(text.text) {
			return
		}
	}
	lowerToDataLook(u)
}

// checkRedis raises the risk of commands that lose all data or configure the server.
func checkRedis(u *use) {
	if len(u.operands) == 0 {
		if u.gave("--bigkeys", "--memkeys", "--hotkeys", "--scan", "--stat") {
			lowerToDataLook(u)
		}
		return
	}
	// KEYS and SCAN may slow a server down, but they change nothing.
	const looking = "ping get mget strlen getrange exists ttl pttl type keys scan dbsize info time lastsave hget " +
		"hmget hgetall hkeys hvals hlen hexists hscan llen lrange lindex scard smembers sismember sscan zcard zrange " +
		"zrevrange zrangebyscore zscore zrank zscan zcount xlen xrange xinfo memory-usage object role"
	if name := u.operands[0]; name.known() && scan.HasField(looking, strings.ToLower(name.text)) {
		lowerToDataLook(u)
		return
	}
	const harmful = "flushall flushdb FLUSHALL FLUSHDB config CONFIG shutdown SHUTDOWN debug DEBUG module MODULE " +
		"slaveof SLAVEOF replicaof REPLICAOF eval EVAL"
	if name := u.operands[0]; !name.known() || scan.HasField(harmful, name.text) {
		u.raise(umpire.High, "loses data or configures the server")
	}
}
