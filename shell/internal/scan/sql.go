package scan

import (
	"strings"
)

// A sqlToken is a word, a quoted name or text, a number or a sign of a statement.
type sqlToken struct {
	kind sqlTokenKind
	text string // words in lower case
}

type sqlTokenKind uint8

const (
	sqlWord   sqlTokenKind = iota // a name or a keyword
	sqlName                       // a quoted name
	sqlText                       // '…'
	sqlNumber                     // 1.5
	sqlSign                       // one character
)

// maxSQL is the maximum length of text to parse as statements.
const maxSQL = 16 << 10

// lookingFunctions are the functions of SQLite, PostgreSQL and MySQL that compute or look.
const lookingFunctions = "count sum avg min max total group_concat string_agg array_agg json_agg jsonb_agg " +
	"json_group_array json_group_object bool_and bool_or every stddev variance median percentile_cont lower upper " +
	"length char_length character_length octet_length trim ltrim rtrim btrim substr substring replace instr position " +
	"strpos locate split_part left right lpad rpad reverse initcap concat concat_ws coalesce nullif ifnull if iif " +
	"greatest least round abs ceil ceiling floor power pow sqrt mod sign trunc truncate ln log exp random rand now " +
	"date time datetime timestamp julianday strftime unixepoch date_trunc date_part extract to_char to_date " +
	"to_timestamp to_number age make_date make_interval date_format str_to_date year month day hour minute second " +
	"unix_timestamp from_unixtime datediff timediff timestampdiff date_add date_sub adddate dayofweek dayofyear " +
	"weekday week quarter curdate curtime utc_timestamp localtimestamp current_timestamp cast convert typeof " +
	"pg_typeof hex quote printf format char unicode ascii chr md5 sha1 encode regexp_replace regexp_matches " +
	"regexp_match regexp_substr regexp_like json json_extract json_array_length json_each json_tree json_object " +
	"json_array json_type json_valid json_unquote json_keys json_length json_contains jsonb_array_elements " +
	"json_array_elements jsonb_array_elements_text jsonb_each jsonb_object_keys jsonb_pretty jsonb_build_object " +
	"json_build_object jsonb_typeof to_json to_jsonb row_to_json row_number rank dense_rank percent_rank cume_dist " +
	"ntile lag lead first_value last_value nth_value generate_series unnest array_length array_to_string " +
	"string_to_array cardinality array version database schema user current_user current_schema current_database " +
	"pg_size_pretty pg_total_relation_size pg_relation_size pg_database_size pg_table_size pg_indexes_size " +
	"pg_get_viewdef pg_get_functiondef pg_get_constraintdef pg_get_indexdef pg_get_expr pg_get_userbyid " +
	"obj_description col_description format_type pragma_table_info pragma_table_list pragma_index_list " +
	"pragma_index_info pragma_foreign_key_list varchar character numeric decimal int integer bigint float double bit " +
	"time timestamptz"

// keywords are the keywords that may precede a bracket.
const keywords = "select from where and or not in exists any all some on using values as over by having when then " +
	"else case end distinct union except intersect join lateral limit offset between like ilike is with filter " +
	"within group row interval materialized explain index key"

// actingWords are the words of statements that have effects, and of table functions that reach
// files.
const actingWords = "insert update delete merge upsert create drop alter truncate grant revoke copy call do execute " +
	"exec prepare deallocate declare fetch attach detach pragma vacuum reindex analyze analyse load set reset lock " +
	"unlock into outfile dumpfile import export install handler rename comment listen notify unlisten refresh " +
	"cluster checkpoint discard begin commit rollback savepoint release start kill flush purge shutdown use " +
	"procedure share fsdir zipfile sqlite_dbpage completion load_extension readfile writefile edit"

// lookingPragmas are the pragmas that only look if they have no value; those of pragmasOfTables
// name a table in brackets.
const (
	lookingPragmas = "database_list table_list compile_options user_version schema_version application_id page_count " +
		"page_size freelist_count journal_mode encoding foreign_keys integrity_check quick_check foreign_key_check " +
		"function_list module_list pragma_list collation_list"
	pragmasOfTables = "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list"
)

// A SQLDialect is the set of quotes of a database besides ' and ".
type SQLDialect string

const (
	SQLite   SQLDialect = "`"
	Postgres SQLDialect = "["
	MySQL    SQLDialect = "`"
)

// OnlyLooks reports whether every statement of a text is known to only look.
func (d SQLDialect) OnlyLooks(text string) bool {
	tokens, ok := d.tokenize(text)
	if !ok {
		return false
	}
	statements, start := 0, 0
	for i := range len(tokens) + 1 {
		if i < len(tokens) && !tokens[i].isSign(";") {
			continue
		}
		if i > start {
			if !statementLooks(tokens[start:i]) {
				return false
			}
			statements++
		}
		start = i + 1
	}
	return statements > 0
}

// statementLooks reports whether one statement is known to only look.
func statementLooks(tokens []sqlToken) bool {
	if tokens[0].kind != sqlWord {
		return false
	}
	switch tokens[0].text {
	case "select", "with", "values":
		return queryLooks(tokens)
	case "explain":
		return explainLooks(tokens[1:])
	case "show":
		return isPlain(tokens)
	case "describe", "desc":
		return len(tokens) <= 4 && isPlain(tokens) && queryLooks(tokens)
	case "use":
		return len(tokens) == 2 && tokens[1].kind != sqlSign
	case "pragma":
		return pragmaLooks(tokens[1:])
	}
	return false
}

// queryLooks reports whether all words and functions of a query only look.
func queryLooks(tokens []sqlToken) bool {
	for i, t := range tokens {
		if HasField(actingWords, strings.ToLower(strings.Trim(t.text, "'`\""))) {
			return false
		}
		called := i+1 < len(tokens) && tokens[i+1].isSign("(")
		switch {
		case !called || t.kind == sqlSign || t.kind == sqlNumber:
		case t.kind != sqlWord || i > 0 && tokens[i-1].isSign("."):
			return false // a quoted or a qualified function may be any
		case !HasField(lookingFunctions, t.text) && !HasField(keywords, t.text):
			return false
		}
	}
	return true
}

// explainLooks reports whether EXPLAIN only looks; ANALYZE runs the query.
func explainLooks(tokens []sqlToken) bool {
	for len(tokens) > 0 && tokens[0].kind == sqlWord && HasField("query plan analyze verbose", tokens[0].text) {
		tokens = tokens[1:]
	}
	return len(tokens) > 0 && tokens[0].kind == sqlWord && HasField("select with values", tokens[0].text) &&
		queryLooks(tokens)
}

// isPlain reports whether a statement consists of words and texts only, as SHOW does.
func isPlain(tokens []sqlToken) bool {
	for _, t := range tokens {
		if t.kind == sqlSign && !strings.Contains(".,=%", t.text) || t.kind == sqlWord && t.text == "into" {
			return false
		}
	}
	return true
}

func pragmaLooks(tokens []sqlToken) bool {
	switch {
	case len(tokens) == 0 || tokens[0].kind != sqlWord:
		return false
	case len(tokens) == 1:
		return HasField(lookingPragmas, tokens[0].text)
	}
	return len(tokens) == 4 && HasField(pragmasOfTables, tokens[0].text) && tokens[1].isSign("(") &&
		tokens[2].kind != sqlSign &&
		tokens[3].isSign(")")
}

func (t sqlToken) isSign(sign string) bool { return t.kind == sqlSign && t.text == sign }

// tokenize splits a text into tokens. It reports false for syntax that databases read
// differently: comments, backslashes, dollar and other quotes, variables of a client. A
// backquote quotes except in PostgreSQL, and a bracket quotes in SQLite.
func (d SQLDialect) tokenize(text string) ([]sqlToken, bool) {
	if len(text) > maxSQL || strings.Contains(text, `\`) {
		return nil, false
	}
	var out []sqlToken
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case strings.IndexByte("$#@{}`[", c) >= 0 && string(c) != string(d), strings.HasPrefix(text[i:], "--"),
			strings.HasPrefix(text[i:], "/*"):
			return nil, false
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case c == '\'' || c == '"' || c == '`':
			end := quoteEnd(text, i)
			if end < 0 || c == '\'' && len(out) > 0 && i > 0 && isWordByte(text[i-1]) {
				return nil, false // unclosed, or a prefix such as E'…'
			}
			kind := sqlName
			if c == '\'' {
				kind = sqlText
			}
			out = append(out, sqlToken{kind: kind, text: text[i:end]})
			i = end
		case c >= '0' && c <= '9':
			end := i
			for end < len(text) && (isWordByte(text[end]) || text[end] == '.') {
				end++
			}
			out = append(out, sqlToken{kind: sqlNumber, text: text[i:end]})
			i = end
		case isWordByte(c):
			end := i
			for end < len(text) && isWordByte(text[end]) {
				end++
			}
			out = append(out, sqlToken{kind: sqlWord, text: strings.ToLower(text[i:end])})
			i = end
		case c == ':':
			if i+1 >= len(text) || text[i+1] != ':' {
				return nil, false // a variable of the client
			}
			out = append(out, sqlToken{kind: sqlSign, text: "::"})
			i += 2
		default:
			out = append(out, sqlToken{kind: sqlSign, text: text[i : i+1]})
			i++
		}
	}
	return out, true
}

// quoteEnd returns the end of the quote that opens at i, or -1. A doubled quote does not end
// it.
func quoteEnd(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); i++ {
		if text[i] != quote {
			continue
		}
		if i+1 < len(text) && text[i+1] == quote {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

// isWordByte reports whether a byte belongs to a word, including bytes of other alphabets.
func isWordByte(c byte) bool {
	return IsLetter(c) || c >= '0' && c <= '9' || c >= 0x80
}
