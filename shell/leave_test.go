package shell

import "testing"

// TestStateIsThatOfEveryWayThrough: a variable, a function or a folder is known only if every
// path through the line gives it the same value.
func TestStateIsThatOfEveryWayThrough(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"f() { ls; } && ./x.sh", "f() { ls; } || ./x.sh", "f() { ls; } | ./x.sh", "f() ( ls ) && ls && ./x.sh",
		"ls() { ./x.sh; } && ls",
		"function f { ls; } && g() { ls; } && ./x.sh",
		"X=ls; case a in a) X=rm;& b) $X -rf src;; esac", "X=ls; case a in a) X=rm;;& *) $X -rf src;; esac",
		"X=rm; for i in a; do break; X=ls; done; $X -rf src",
		"X=rm; for i in a b; do true && continue; X=ls; done; $X -rf src",
		"X=ls; for i in a b; do $X src; X=rm; continue; X=ls; done",
		"X=ls; while :; do X=rm; break; X=ls; done; $X -rf src",
		"X=ls; for ((;;)); do X=rm; break; X=ls; done; $X -rf src",
		"X=rm; f() { return; X=ls; }; f; $X -rf src", "X=rm; f() { if true; then return; fi; X=ls; }; f; $X -rf src",
		"f() { return; cd src; }; f; rm x",
		"readonly X=rm\nX=ls\n$X -rf src", "declare -r X=rm\nread X <<< ls\n$X -rf src", "UID=1; ls",
		"X=rm\n: $((1/0)); X=ls\n$X -rf src", "X=rm\neval ': $((1/0))'; X=ls\n$X -rf src",
		"_=ls; : rm; $_ -rf src", "REPLY=ls; read <<< rm; $REPLY -rf src",
		"OPTARG=ls; getopts a: o -a rm; $OPTARG -rf src",
		"X=ls; trap '$X -rf src' EXIT; X=rm", "trap 'ls src' EXIT; ls() { rm -rf src; }",
		"X=rm; f() { local X=ls; }; f; $X -rf src", "X=rm; f() { local X; X=ls; }; f; $X -rf src",
		"X=rm; f() { declare X=ls; }; f; $X -rf src",
		"LANG=ls; f() { $LANG -rf src; }; LANG=rm f", "CI=ls; CI=rm eval '$CI -rf src'",
		"set -- ls; set rm -rf src; \"$@\"", "set -- ls; set -x rm; $1 -rf src", "X=ls; set -A X rm; $X -rf src",
		"X=(ls rm); ${X[1]} -rf src", "X=(nice ./x.sh); $X", "X=([1]=ls [0]=rm); ${X[0]} -rf src",
		"X=ls; printf -vX rm; $X -rf src",
	} {
		if runsUnasked(line) {
			t.Errorf("%s is harmless: %+v", line, Parse(line, neverSafeEnv))
		}
	}
	for _, line := range []string{
		"f() { ls; }; f && ls", "f() { ls; } && f", "X=src; case a in a) X=src;; esac; ls $X",
		"for i in a b; do [ -d $i ] || continue; ls $i; done; ls",
		"for f in a b; do cd $f || continue; ls; cd ..; done",
		"f() { local d=src; [ -d $d ] || return; ls $d; }; f; ls", "n=$((n+1)); echo $n",
		"X=(src lib); ls \"${X[@]}\"", "X=(src); ls ${X[0]}", "set -e; ls", "set -eo pipefail; ls",
		"set -- a b; cat $1",
		"trap 'echo done' EXIT; ls", "X=$(cat <<'E'\na\nE\n)\necho \"$X\"",
	} {
		if !runsUnaskedIn("bash", line) {
			t.Errorf("%s asks: %+v", line, Parse(line, neverSafeEnv))
		}
	}
}

// TestQuotesThatAreNone: text within "${x:-'…'}" does not count as quoted.
func TestQuotesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		`echo "${x:-'$(./x.sh)'}"`, "echo \"${x:+'`./x.sh`'}\"", `echo "${x:-'}"; ./x.sh; echo "'}"`,
		"cat <<E\n${x:-'}\nE\n./x.sh\ncat <<E\n'}\nE",
		`[[ "${x:-'$(./x.sh)'}" ]]`, `echo "${x:-${y:-'$(./x.sh)'}}"`, `echo "$(echo "${x:-'$(./x.sh)'}")"`,
	} {
		if runsUnasked(line) {
			t.Errorf("%s is harmless", line)
		}
	}
	for _, line := range []string{
		`echo "${x:-'a b'}"`, `echo ${x:-'$(y)'}`, `echo "${x#'$(y)'}"`, `echo '${x:-"$(y)"}'`,
		`awk '{print "${x}"}' a`,
	} {
		if !runsUnaskedIn("bash", line) {
			t.Errorf("%s asks: %+v", line, Parse(line, neverSafeEnv))
		}
	}
}

// TestZshReadsMore checks lines that mean nothing to bash but run something in zsh.
func TestZshReadsMore(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"X=/etc/x; cat $=X", "cat \"$~X\"", "aliases[ls]='rm x'; ls", "path=(.); ls", "commands[ls]=./x.sh; ls",
		"galiases[src]='; rm x'; ls src",
		"chpwd() { ./x.sh; }; cd src", "chpwd_functions+=(x)", "TRAPEXIT() { ./x.sh; }", "READNULLCMD=./x.sh; <a",
		"PROMPT='$(./x.sh)'",
		"typeset -T PATH p; ls", "printf '%d' 'a[$(./x.sh)]'", "[[ -t 'a[$(./x.sh)]' ]]", "exit 'a[$(./x.sh)]'",
		"shift 'a[$(./x.sh)]'",
	} {
		if runsUnasked(line) {
			t.Errorf("%s is harmless", line)
		}
	}
	for _, line := range []string{
		"echo 'a$=b'", "echo \"\\$=b\"", "grep -c '^$' a", "path=src/a; cat $path", "printf '%s\\n' '$(x)'",
	} {
		if !runsUnaskedIn("bash", line) {
			t.Errorf("%s asks: %+v", line, Parse(line, neverSafeEnv))
		}
	}
}

// TestArithmeticFollowsNames: text that runs when evaluated is found behind names and indexes.
func TestArithmeticFollowsNames(t *testing.T) {
	t.Parallel()
	const code = "k='a[$(./x.sh)]'; "
	for _, line := range []string{
		`let "y=k"`, "j=k; echo $((j))", "i=k; j=i; ((j))", "read x[k] <<< 1", "unset x[k]", "[ -v x[k] ]",
		"printf -v x[k] 1", "mapfile -t x[k] < a",
		"[ $(cat a) ]", "test $(cat a) -eq 1",
	} {
		if runsUnasked(code + line) {
			t.Errorf("%s is harmless", code+line)
		}
	}
	for _, line := range []string{
		"n=1; j=n; echo $((j))", "[ $(cat a | wc -l) -gt 3 ]", "[ \"$(cat a)\" = b ]", `let "n=n+1"; echo $n`,
	} {
		if !runsUnaskedIn("bash", line) {
			t.Errorf("%s asks: %+v", line, Parse(line, neverSafeEnv))
		}
	}
}

// TestFunctionsEndWithTheShell: a started program does not have the line's functions and
// variables.
func TestFunctionsEndWithTheShell(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"nice rm -rf src", "timeout 5 rm -rf src", "env rm -rf src", "nohup rm -rf src", "exec rm -rf src",
		"sh <<< 'rm -rf src'", "echo 'rm -rf src' | sh",
		"bash -c 'rm -rf src'", "ls | xargs rm -rf", "find . -exec rm {} \\;", "fd . -x rm", "watch rm -rf src",
		"parallel rm ::: src", "strace rm -rf src",
		"busybox rm -rf src", "hyperfine 'rm -rf src'", "env -S 'rm -rf src'", "bash <(echo 'rm -rf src')",
	} {
		if line = "rm() { :; }; " + line; runsUnasked(line) {
			t.Errorf("%s is harmless", line)
		}
	}
	for _, line := range []string{
		"X=ls; sh <<< '$X src'", "X=ls; watch '$X src'", "f() { bash -c 'X=rm; local X=ls; $X src'; }; f",
		"X=rm; local X=ls; $X src",
	} {
		if runsUnasked(line) {
			t.Errorf("%s is harmless", line)
		}
	}
	for _, line := range []string{
		"rm() { :; }; rm -rf src", "rm() { :; }; eval rm x", "f() { ls; }; trap f EXIT", "cd src; nice ls",
		"f() { local X=ls; $X src; }; f",
	} {
		if !runsUnaskedIn("bash", line) {
			t.Errorf("%s asks: %+v", line, Parse(line, neverSafeEnv))
		}
	}
}
