package trial

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umpirehq/umpire/internal/secret/sensitive"
)

// write writes files below a folder.
func (b *bench) write(dir string, texts map[string]string) {
	b.Helper()
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			b.Fatal(err)
		}
	}
}

// privateFiles are files in a home that a trial must not see.
var privateFiles = map[string]string{
	"Documents/x": "PRIVATE\n", "other/project/main.go": "PRIVATE\n", ".config/app/x": "PRIVATE\n", "x": "PRIVATE\n",
	".local/share/app/x": "PRIVATE\n",
}

// TestHomeIsNotSeen checks that private files cannot be read under any name.
func TestHomeIsNotSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, privateFiles)
	b.bare("ln -s ../h/Documents/x link; ln -s " + home + "/Documents docs; ln -s .. up")
	result := b.try("for f in ~/Documents/x " + home + "/Documents/x ../h/Documents/x link docs/x up/h/x ~/.config/app/x " +
		"/proc/self/root" + home + "/Documents/x /proc/1/root" + home + "/x /proc/1/fd/*/Documents/x /proc/1/fd/*/x " +
		"/proc/self/fd/*/x ~/../h/x /proc/1/cwd" + home + "/x; do cat $f 2>/dev/null; done; grep -rh PRIVATE ~ .. 2>/dev/null; ls ~; true")
	if strings.Contains(string(result.Output), "PRIVATE") || strings.Contains(string(result.Output), "Documents") {
		t.Errorf("%s", result.Output)
	}
	if result := b.try("test -d ~ && test -d ~/.config && ! touch ~/.config/y && ls -A ~/.config"); strings.Contains(string(result.Output), "app") {
		t.Errorf("%s", result.Output)
	}
	if os.Geteuid() == 0 {
		if result := b.try("ls -A /root /home 2>/dev/null | grep -v '^[./]' || true"); strings.Contains(string(result.Output), ".umpire") {
			t.Errorf("the homes of others hold %s", result.Output)
		}
	}
}

// TestHomeIsNotWritten checks that refused writes and deletions in a home are reported although the files are hidden.
func TestHomeIsNotWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, privateFiles)
	b.write(home, map[string]string{".cargo/env": ""})
	for line, want := range map[string]string{
		"echo y >~/Documents/y":           "Documents/y",
		"echo y >~/Documents/x":           "Documents/x",
		"rm -f ~/Documents/x":             "Documents/x",
		"mkdir ~/Documents/new":           "Documents/new",
		"mkdir ~/new":                     "new",
		"mkdir -p ~/.config/app":          "",
		"echo y >~/.cargo/.package-cache": "",
		"echo y >~/.cargo/config.toml":    ".cargo/config.toml",
		"mkdir ~/.config/go":              "",
		"rm -f ~/none ~/none/x":           "",
		"echo y >~/none/x":                "",
		"cat ~/Documents/x":               "",
		"echo y >~/.config/app/x":         ".config/app/x",
	} {
		result, err := b.run("{ " + line + "; } 2>/dev/null || true")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range result.Effects.Refused {
			got = append(got, strings.TrimPrefix(a.Target, home+"/"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: refused %q, want %q", line, got, want)
		}
	}
	for name, text := range privateFiles {
		if got, err := os.ReadFile(filepath.Join(home, name)); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestHomeShowsTools checks that toolchains, settings, folders in PATH and targets of links are visible.
func TestHomeShowsTools(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, privateFiles)
	b.write(home, map[string]string{
		".cargo/bin/tool": "#!/bin/sh\necho cargo\n", ".cargo/credentials.toml": "PRIVATE\n", ".npmrc": "PRIVATE\n",
		"dotfiles/gitconfig": "[user]\n\tname = Linked\n[include]\n\tpath = ~/dotfiles/more\n", "dotfiles/more": "[user]\n\temail = more@example.com\n",
		"dotfiles/other": "PRIVATE\n", "apps/thing-1/bin/thing": "#!/bin/sh\ncat $(dirname $(readlink -f $0))/../lib/text\n",
		"apps/thing-1/lib/text": "thing\n", "programs/own": "#!/bin/sh\necho own\n", ".editorconfig": "root\n", "data/x": "listed\n",
		"gopath/pkg/mod/m": "module\n",
	})
	for _, link := range [][2]string{{"dotfiles/gitconfig", ".gitconfig"}, {"../apps/thing-1/bin/thing", "programs/thing"}} {
		if err := os.Symlink(link[0], filepath.Join(home, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	b.spec.Env = append(b.spec.Env, "PATH="+home+"/programs:"+home+"/.cargo/bin:"+home+":"+os.Getenv("PATH"), "GOPATH="+home+"/gopath", "CARGO_HOME="+home)
	b.spec.Place.Show = []string{home + "/data", home}
	result := b.try("tool; own; thing; git config user.name; git config user.email; cat ~/.editorconfig ~/data/x ~/gopath/pkg/mod/m; " +
		"cat ~/.cargo/credentials.toml ~/.npmrc ~/dotfiles/other ~/Documents/x ~/x 2>/dev/null; true")
	if got, want := string(result.Output), "cargo\nown\nthing\nLinked\nmore@example.com\nroot\nlisted\nmodule\n"; got != want {
		t.Errorf("%s", got)
	}
	b.spec.Seen = []string{filepath.Join(home, "Documents/x")}
	if result := b.try("cat ~/Documents/x; cat ~/x 2>/dev/null; ls ~/Documents"); string(result.Output) != "PRIVATE\nx\n" {
		t.Errorf("what was allowed by its name: %s", result.Output)
	}
}

// TestHomeOfLinks checks that a folder of programs in the project does not expose anything in the home.
func TestHomeOfLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, map[string]string{"notes/bin/run": "PRIVATE\n", "notes/x": "PRIVATE\n"})
	b.bare("mkdir bin && ln -s ../../h/notes/bin/run bin/run && ln -s ../h/notes notes")
	b.spec.Env = append(b.spec.Env, "PATH="+b.root+"/bin:"+b.root+"/notes:"+os.Getenv("PATH"), "GOPATH="+b.root+"/notes")
	if result := b.try("cat bin/run notes/x ~/notes/x 2>/dev/null; true"); len(result.Output) > 0 {
		t.Errorf("%s", result.Output)
	}
}

// TestProjectInHome checks that a project in the home is visible and its neighbors are
// not. If the home itself is the project, nothing in it is hidden.
func TestProjectInHome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, privateFiles)
	b.write(home, map[string]string{"other/mine/go.mod": "module m\n"})
	b.spec.Dir = filepath.Join(home, "other/mine")
	b.spec.Place.Workspace = []string{b.spec.Dir}
	result := b.try("cat go.mod && echo y >new && cat ../project/main.go ../../x 2>/dev/null; ls .. ; pwd")
	if got := string(result.Output); got != "module m\nmine\n"+b.spec.Dir+"\n" || len(result.Effects.List) != 1 || len(result.Effects.Refused) != 0 {
		t.Errorf("%s, %+v", got, result.Effects)
	}
	b.spec.Dir, b.spec.State = home, filepath.Join(b.base, "s")
	b.spec.Place.Workspace, b.spec.Place.State = []string{home}, b.spec.State
	if result := b.try("cat x Documents/x && echo y >Documents/y"); string(result.Output) != "PRIVATE\nPRIVATE\n" || len(result.Effects.List) != 1 {
		t.Errorf("%s, %+v", result.Output, result.Effects)
	}
}

// TestHomeIsALink checks that the folder in HOME exists under both names.
func TestHomeIsALink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.write(home, privateFiles)
	b.write(home, map[string]string{".gitconfig": "[user]\n\tname = Linked\n"})
	linked := filepath.Join(b.base, "linked")
	if err := os.Symlink(home, linked); err != nil {
		t.Fatal(err)
	}
	b.spec.Env = append(b.spec.Env, "HOME="+linked)
	if result := b.try("git config user.name; cat ~/x ~/Documents/x 2>/dev/null; cd ~ && pwd -P"); string(result.Output) != "Linked\n"+home+"\n" {
		t.Errorf("%s", result.Output)
	}
}

// TestHomeKeepsWorktrees checks that git finds the worktrees in the home, and forgets none.
func TestHomeKeepsWorktrees(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.spec.Place.Home
	b.bare("git init -q && git commit -q --allow-empty -m x && git worktree add -q " + home + "/w && echo PRIVATE >" + home + "/w/x")
	result := b.try("git worktree prune --expire now && cat ~/w/x 2>/dev/null; git worktree list | wc -l")
	if strings.TrimSpace(string(result.Output)) != "2" || len(result.Effects.List) != 0 {
		t.Errorf("%s, %+v", result.Output, result.Effects)
	}
}

// TestHomeOfThisMachine checks that the programs in this test's PATH run, wherever they are.
func TestHomeOfThisMachine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skipf("this user has no home: %v", err)
	}
	b.spec.Env = append(b.spec.Env, "HOME="+home)
	b.spec.Place.Home = home
	for program, line := range map[string]string{
		"go": "go version", "python3": "python3 -c 'print(1)'", "node": "node -e 'console.log(1)'", "cargo": "cargo --version",
	} {
		if _, err := exec.LookPath(program); err != nil || exec.CommandContext(t.Context(), "sh", "-c", line).Run() != nil {
			continue
		}
		if result, err := b.run(line); err != nil || result.Exit != 0 {
			t.Errorf("%s: %v, %+v", line, err, result)
		}
	}
}

// TestCredentialStoresAreHidden checks that a trial prints none of the files in rules about secrets, one for
// each entry in a home. Its git settings are visible, and the passwords next to them are not.
func TestCredentialStoresAreHidden(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home, texts := b.spec.Place.Home, map[string]string{".config/git/config": "[user]\nname = SEEN\n"}
	patterns, _ := sensitive.SecretFiles()
	for _, pattern := range patterns {
		name, found := strings.CutPrefix(pattern, "/**/")
		if !found {
			if name, found = strings.CutPrefix(pattern, "~/"); !found {
				continue // a system file
			}
		}
		name = strings.ReplaceAll(strings.TrimSuffix(name, "/**")+map[bool]string{true: "/file"}[strings.HasSuffix(name, "/**")], "*", "a")
		texts[name] = "PRIVATE\n"
	}
	if len(texts) < 200 || texts[".config/git/credentials"] == "" || texts[".yarnrc.yml"] == "" {
		t.Fatalf("%d files: the test tells nothing", len(texts))
	}
	b.write(home, texts)
	result := b.try("grep -rhs -e PRIVATE -e SEEN ~; cat ~/.config/git/credentials ~/.config/pypoetry/auth.toml ~/.yarnrc.yml; true")
	if out := string(result.Output); strings.Contains(out, "PRIVATE") || !strings.Contains(out, "SEEN") {
		t.Errorf("%s", out)
	}
}
