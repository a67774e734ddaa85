package scan

import (
	"cmp"
	"slices"
	"strings"
)

// Functions of standard libraries by their effects, named by their last part. A name with a dot
// needs that module in front, because other modules have functions with that name.
const (
	startsCommand = "system popen exec execsync spawn spawnsync execfile execfilesync shell_exec passthru proc_open " +
		"pcntl_exec popen2 popen3 capture2 capture2e capture3 check_call check_output getoutput getstatusoutput " +
		"subprocess.run subprocess.call sp.run sp.call run call cmd system2 execute script shell command sh execl " +
		"execle execlp execlpe execv execve execvp execvpe spawnl spawnle spawnlp spawnv spawnve spawnvp posix_spawn " +
		"posix_spawnp"
	deletesTree = "rmtree remove_tree rm rmsync rmdirsync rm_rf rm_r rmr remove_dir remove_entry remove_entry_secure " +
		"rimraf deno.remove deno.removesync fse.remove removesync emptydir emptydirsync deletedir deleterecursively " +
		"removedirs fs.rmdir rm_f unlink"
	deletesFile = "os.remove os.rmdir file.remove file.delete dir.delete dir.rmdir dir.unlink fileutils.rm file.rm " +
		"fs.unlink unlinksync rmdir remove_file"
	movesAway  = "shutil.move os.rename os.replace fs.rename renamesync fileutils.mv file.rename fileutils.move"
	writesPath = "writefile writefilesync appendfile appendfilesync createwritestream truncatesync file_put_contents " +
		"write_text write_bytes file.write file.binwrite io.write io.binwrite writetextfile writetextfilesync " +
		"os.truncate file.truncate"
	opensPath = "open fopen file.open file.new sysopen opensync io.open"
	readsPath = "readfile readfilesync createreadstream file_get_contents read_text read_bytes file.read " +
		"file.readlines file.foreach io.read io.readlines io.foreach readtextfile readtextfilesync readlines"
	// listsFiles are functions that list the files in a folder, or the matches of a pattern.
	listsFiles = "walk walkdir scandir listdir readdir readdirsync opendir dir.children dir.entries dir.each_child " +
		"find.find find iterdir list.files"
	globsFiles = "glob globsync rglob iglob fnmatch dir.glob sys.glob"
	runsCode   = "eval exec compile function instance_eval class_eval runinthiscontext runinnewcontext runincontext " +
		"load loadstring eval_string"
	// keepsValue are functions that return their argument, or a path made of their arguments.
	keepsValue = "path pathlib.path purepath pathname pathname.new str string file expanduser abspath realpath " +
		"resolve absolute expand_path normpath c list array join shellescape quote split"
)

// isOneOf reports whether a function is on a list.
func isOneOf(function, list string) bool {
	function = strings.TrimLeft(strings.TrimRight(strings.ToLower(function), "!?"), "@")
	parts := strings.Split(function, ".")
	last := parts[len(parts)-1]
	qualified := last
	if len(parts) > 1 {
		qualified = parts[len(parts)-2] + "." + last
	}
	fields := strings.Fields(list)
	return slices.Contains(fields, last) || slices.Contains(fields, qualified)
}

func isCall(function string) bool {
	return isOneOf(function, "eval") || isOneOf(function, globsFiles) || isOneOf(function, readsPath) ||
		isOneOf(function, startsCommand) ||
		isOneOf(function, deletesTree) || isOneOf(function, deletesFile) || isOneOf(function, movesAway) ||
		isOneOf(function, writesPath) ||
		isOneOf(function, opensPath)
}

// readCall records the effects of a call, and returns its value.
func (r *reader) readCall(function string, receiver value, args []value) value {
	function = cmp.Or(r.aliases[function], function)
	values := flattenKnown(args)
	if receiver.known {
		values = append([]value{receiver}, values...)
	}
	texts := textsOf(values)
	deletes := isOneOf(function, deletesTree) || isOneOf(function, deletesFile)
	switch {
	case len(texts) == 0:
		r.deletesFound = r.deletesFound || deletes
	case isOneOf(function, "getattr") || function == "send" || function == "public_send":
		return value{function: texts[len(texts)-1]}
	case isOneOf(function, globsFiles):
		return r.globbedPaths(function, receiver, texts)
	case isOneOf(function, listsFiles):
		r.sources = append(r.sources, Act{Kind: ActDelete, Text: texts[0], Tree: true})
	case isOneOf(function, startsCommand):
		if isOneOf(function, runsCode) {
			r.readNested(texts[0])
		}
		r.keepAct(Act{Kind: ActCommand, Text: texts[0]}, true)
		if len(texts) > 1 {
			r.keepAct(Act{Kind: ActCommand, Text: quoteWords(texts)}, true)
		}
	case isOneOf(function, runsCode):
		r.readNested(texts[0])
	case isOneOf(function, movesAway):
		r.keepAct(Act{Kind: ActDelete, Text: texts[0], Tree: true}, firstKnown(receiver, args))
	case deletes:
		for _, v := range values {
			r.keepAct(Act{Kind: ActDelete, Text: v.text, Tree: isOneOf(function, deletesTree), Glob: v.glob}, true)
		}
	case isOneOf(function, writesPath):
		r.keepAct(Act{Kind: ActWrite, Text: texts[0]}, firstKnown(receiver, args))
	case isOneOf(function, readsPath):
		r.keepAct(Act{Kind: ActRead, Text: texts[0]}, firstKnown(receiver, args))
	case isOneOf(function, opensPath):
		r.judgeOpen(texts)
	case isOneOf(function, keepsValue):
		return keptValue(function, receiver, args)
	}
	return value{}
}

// globbedPaths returns the matches of a pattern below the receiver's folder.
func (r *reader) globbedPaths(function string, receiver value, texts []string) value {
	pattern := texts[0]
	if receiver.known && len(texts) > 1 {
		between := "/"
		if isOneOf(function, "rglob") {
			between = "/**/"
		}
		pattern = strings.TrimSuffix(texts[0], "/") + between + texts[1]
	}
	r.sources = append(r.sources, Act{Kind: ActDelete, Text: pattern, Glob: true})
	return value{text: pattern, known: true, glob: true}
}

// readNested reads code within a string.
func (r *reader) readNested(text string) {
	if r.level >= maxLevels {
		return
	}
	for _, a := range findActs(r.language, text, r.level+1) {
		r.keepAct(a, true)
	}
}

func firstKnown(receiver value, args []value) bool {
	return receiver.known || len(args) > 0 && args[0].known
}

// flattenKnown returns the known values of arguments and of lists among them, without those of
// keywords.
func flattenKnown(args []value) []value {
	var values []value
	for _, a := range args {
		switch {
		case a.keyed:
		case a.known:
			values = append(values, a)
		default:
			values = append(values, flattenKnown(a.list)...)
		}
	}
	return values
}

func textsOf(values []value) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.text
	}
	return texts
}

// keptValue returns the value of a function that makes a path or a list of its arguments.
func keptValue(function string, receiver value, args []value) value {
	all := args
	if receiver.known {
		all = append([]value{receiver}, args...)
	}
	if isOneOf(function, "c list array") {
		return value{list: args}
	}
	if isOneOf(function, "split") {
		all = all[:1]
	}
	if len(all) == 1 {
		return value{text: all[0].text, known: all[0].known}
	}
	var parts []string
	for _, a := range all {
		if !a.known {
			return value{}
		}
		if strings.HasPrefix(a.text, "/") {
			parts = nil
		}
		parts = append(parts, strings.TrimRight(a.text, "/"))
	}
	return value{text: cmp.Or(strings.Join(parts, "/"), "/"), known: len(all) > 0}
}

// judgeOpen judges opening a file: open(path), open(path, "w"), Perl's open(F, ">path") and
// open(F, "|command").
func (r *reader) judgeOpen(texts []string) {
	for i, text := range texts {
		command, before := strings.CutPrefix(text, "|")
		if !before {
			command, before = strings.CutSuffix(text, "|")
		}
		path, writes := strings.CutPrefix(strings.TrimPrefix(text, "+"), ">")
		next := ""
		if i+1 < len(texts) {
			next = texts[i+1]
		}
		switch {
		case text == "|-" || text == "-|":
			r.keepAct(Act{Kind: ActCommand, Text: strings.Join(texts[i+1:], " ")}, true)
		case before:
			r.keepAct(Act{Kind: ActCommand, Text: command}, true)
		case writes && strings.Trim(path, "> ") != "":
			r.keepAct(Act{Kind: ActWrite, Text: strings.Trim(path, "> ")}, true)
		case writes:
			r.keepAct(Act{Kind: ActWrite, Text: next}, true)
		case i == 0 && next != "" && len(next) < 5 && strings.ContainsAny(next, "wax+"):
			r.keepAct(Act{Kind: ActWrite, Text: text}, true)
		case i == 0 && strings.Trim(text, "< ") != "":
			r.keepAct(Act{Kind: ActRead, Text: strings.TrimLeft(text, "< ")}, true)
		case i > 0 && texts[i-1] == "<":
			r.keepAct(Act{Kind: ActRead, Text: text}, true)
		}
	}
}

// quoteWords quotes words for a shell.
func quoteWords(words []string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(all, " ")
}
