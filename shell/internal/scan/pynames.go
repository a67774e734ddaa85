package scan

import (
	"strings"
)

// pythonModules are the modules that may be imported, each with the names that may be used from
// it. An unlisted module or name may do anything.
var pythonModules = [...]struct{ module, names string }{
	{"json", "loads dumps load dump JSONDecodeError"},
	{"re", "compile match search findall finditer sub subn split fullmatch escape error I M S X IGNORECASE " +
		"MULTILINE DOTALL VERBOSE"},
	{"sys", "argv stdin stdout stderr exit version version_info platform maxsize byteorder getsizeof"},
	{"os", "listdir scandir walk getcwd sep linesep name curdir path cpu_count"},
	{"os.path", "join basename dirname splitext split exists isfile isdir getsize getmtime normpath sep relpath"},
	{"glob", "glob iglob"},
	{"pathlib", "Path PurePath PurePosixPath PosixPath"},
	{"gzip", "open decompress"},
	{"bz2", "open decompress"},
	{"lzma", "open decompress"},
	{"csv", "reader DictReader writer DictWriter QUOTE_ALL QUOTE_MINIMAL excel excel_tab"},
	{"tomllib", "load loads TOMLDecodeError"},
	{"ast", "parse walk dump literal_eval unparse get_docstring iter_child_nodes " + syntaxNodes},
	{"itertools", "chain count cycle islice groupby product permutations combinations accumulate zip_longest " +
		"takewhile dropwhile starmap tee repeat pairwise filterfalse"},
	{"collections", "Counter defaultdict OrderedDict deque namedtuple ChainMap"},
	{"functools", "reduce cmp_to_key"},
	{"math", "ceil floor sqrt log log2 log10 exp pow pi e inf nan isnan isinf gcd lcm factorial comb perm sin " +
		"cos tan " +
		"atan atan2 hypot fabs fsum prod trunc dist isclose degrees radians"},
	{"statistics", "mean median mode stdev pstdev variance pvariance quantiles fmean geometric_mean harmonic_mean"},
	{"datetime", "datetime date timedelta timezone time UTC"},
	{"time", "time strftime strptime localtime gmtime perf_counter monotonic ctime mktime sleep"},
	{"string", "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace " +
		"printable Template"},
	{"textwrap", "dedent indent fill wrap shorten"},
	{"difflib", "unified_diff context_diff ndiff SequenceMatcher get_close_matches"},
	{"struct", "pack unpack calcsize unpack_from iter_unpack"},
	{"binascii", "hexlify unhexlify crc32 b2a_hex a2b_hex"},
	{"base64", "b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode " +
		"standard_b64decode a85decode b85decode"},
	{"hashlib", "md5 sha1 sha224 sha256 sha384 sha512 blake2b blake2s sha3_256"},
	{"zlib", "crc32 adler32 decompress compress"},
	{"pprint", "pprint pformat pp"},
	{"operator", "itemgetter add mul sub truediv eq lt gt le ge"},
	{"random", "choice choices randint random seed shuffle sample uniform randrange"},
	{"decimal", "Decimal"},
	{"fractions", "Fraction"},
	{"bisect", "bisect bisect_left bisect_right"},
	{"heapq", "heappush heappop heapify nlargest nsmallest merge"},
	{"unicodedata", "name category normalize lookup east_asian_width combining"},
	{"fnmatch", "fnmatch filter fnmatchcase translate"},
	{"shlex", "split quote join"},
	{"html", "escape unescape"},
	{"copy", "copy deepcopy"},
	{"uuid", "uuid4 UUID"},
	{"platform", "python_version python_version_tuple python_implementation"},
	{"urllib", "parse"},
	{"urllib.parse", "urlparse urlsplit quote quote_plus unquote unquote_plus urlencode parse_qs parse_qsl " +
		"urljoin urlunparse"},
	// Not part of the library, and therefore a package of the environment.
	{"yaml", "safe_load safe_load_all safe_dump YAMLError"},
}

// namesOf returns the names that may be used from a module, or "" if it may not be imported.
func namesOf(module string) string {
	for _, m := range pythonModules {
		if m.module == module {
			return m.names
		}
	}
	return ""
}

// syntaxNodes are kinds of nodes of Python's own syntax tree.
const syntaxNodes = "FunctionDef AsyncFunctionDef ClassDef Import ImportFrom Call Name Attribute Assign AnnAssign " +
	"Constant Expr Return If For While With Try Raise Dict List Tuple Module Subscript AST stmt expr"

// packages are the accepted modules outside the library.
const packages = "yaml"

// pythonBuiltins are functions and constants that are harmless with any arguments.
const pythonBuiltins = "print len range enumerate zip sorted reversed map filter sum min max any all abs " +
	"round int float " +
	"str bytes bytearray list dict set tuple frozenset bool complex repr ascii ord chr hex oct bin divmod pow " +
	"isinstance " +
	"issubclass iter next hash id slice format callable exit quit type __name__ NotImplemented Ellipsis " +
	"KeyboardInterrupt StopIteration SystemExit"

// pythonClasses are built-in classes whose attributes may be used like those of their values.
const pythonClasses = "str bytes int float dict list set datetime.datetime datetime.date datetime.timedelta " +
	"datetime.timezone datetime.time"

// pythonMethods are attributes that are harmless on any value of an accepted program. It
// excludes methods of paths that write, and those that take the name of a file.
const pythonMethods = "capitalize casefold center count decode encode endswith expandtabs find format " +
	"format_map index " +
	"isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle " +
	"isupper join " +
	"ljust lower lstrip maketrans partition removeprefix removesuffix rfind rindex rjust rpartition rsplit " +
	"rstrip split " +
	"splitlines startswith strip swapcase title translate upper zfill hex fromhex bit_length to_bytes from_bytes " +
	"is_integer as_integer_ratio real imag numerator denominator " +
	"clear copy fromkeys get items keys pop popitem values remove reverse sort discard difference " +
	"intersection issubset issuperset symmetric_difference union isdisjoint most_common elements total " +
	"subtract popleft " +
	"rotate move_to_end maxlen " +
	"read readline readlines close seek tell buffer closed encoding isatty " +
	"match search findall finditer sub subn fullmatch group groups groupdict start end span string pattern " +
	"flags lastgroup " +
	"name parent parents stem suffix suffixes parts anchor is_absolute with_suffix with_name with_stem " +
	"relative_to as_posix is_file is_dir exists stat st_size st_mtime st_mode path joinpath " +
	"year month day hour minute second microsecond tzinfo isoformat strftime strptime fromtimestamp fromisoformat " +
	"timestamp now utcnow today days seconds total_seconds date time weekday isocalendar isoweekday utc " +
	"astimezone min max " +
	"tm_year tm_mon tm_mday " +
	"digest hexdigest fieldnames line_num writerow writerows writeheader " +
	"scheme netloc hostname port query fragment params username args msg pos lineno colno col_offset " +
	"end_lineno doc " +
	"id attr body targets target func names module level asname decorator_list bases elts orelse returns " +
	"annotation ctx " +
	"ratio get_opcodes get_matching_blocks quantize substitute safe_substitute major minor micro int"

// pythonMutators change their receiver.
const pythonMutators = "append extend insert update setdefault add appendleft extendleft"

// textMethods return strings for every receiver.
const textMethods = "read readline strip lstrip rstrip lower upper title join format decode removeprefix " +
	"removesuffix " +
	"read_text splitext as_posix hexdigest isoformat strftime"

// isPythonBuiltin reports whether a built-in name may be used.
func isPythonBuiltin(name string) bool {
	return HasField(pythonBuiltins, name) || name != "" && name[0] >= 'A' && name[0] <= 'Z' &&
		(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception") ||
			strings.HasSuffix(name, "Warning"))
}

// modulesOfPython are the modules of the library that the accepted ones load.
const modulesOfPython = "abc argparse ast atexit base64 binascii bisect builtins bz2 calendar codecs " +
	"collections colorsys " +
	"contextlib contextvars copy copyreg csv dataclasses datetime decimal difflib dis email encodings " +
	"enum errno fnmatch fractions functools genericpath getopt gettext glob grp gzip hashlib heapq hmac " +
	"html http importlib inspect io ipaddress itertools java json keyword linecache locale logging lzma " +
	"marshal math nt ntpath numbers opcode operator org os pathlib pickle platform posix posixpath " +
	"pprint pwd pyexpat queue random re readline reprlib rlcompleter secrets select selectors shlex " +
	"shutil signal site sitecustomize socket stat statistics string struct subprocess sys sysconfig " +
	"tarfile tempfile textwrap this threading time token tokenize tomllib traceback types typing " +
	"unicodedata unittest urllib usercustomize uuid warnings weakref winreg yaml zipfile zipimport zlib"

// ShadowsPython reports whether a file of the working folder may replace a module that an
// accepted program loads.
func ShadowsPython(file string) bool {
	module, _, _ := strings.Cut(file, ".")
	return HasField(modulesOfPython, module) && module != "" ||
		strings.HasPrefix(module, "_") && module != "__pycache__" && module != "__init__" && module != "__main__"
}
