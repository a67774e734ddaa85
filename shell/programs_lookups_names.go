package shell

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// Some look-ups ask about every package that a file of the project names. They may do so if the
// names are plain, so that no name is an address, and the file chooses neither another server
// nor another version of the program.

// namesPlainPackages reports whether that holds for a package.json.
func namesPlainPackages(text string) bool {
	var manifest map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &manifest) != nil {
		return false
	}
	for key, value := range manifest {
		switch key {
		case "workspaces", "packageManager", "devEngines", "pnpm":
			return false
		case "dependencies", "devDependencies", "optionalDependencies", "peerDependencies":
			var packages map[string]json.RawMessage
			if json.Unmarshal(value, &packages) != nil {
				return false
			}
			for name := range packages {
				if !plainPackage(name) {
					return false
				}
			}
		}
	}
	return true
}

// plainPackage reports whether a name is that of a package, without a version.
func plainPackage(name string) bool {
	return registryName(lit(name)) && strings.LastIndexByte(name, '@') <= 0 && !strings.ContainsAny(name, " \"'")
}

// locksPlainPackages reports whether a yarn.lock gives its packages no other name or registry.
func locksPlainPackages(text string) bool {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.ContainsAny(line, "\\\r") || scan.HasField("name registry", strings.Trim(key, `":`)) &&
			!registryName(lit(strings.Trim(value, `" `))) {
			return false
		}
	}
	return true
}

// publicHosts serve the modules that everyone may see. If a proxy does not have a module, go
// asks the host of its path.
const publicHosts = "github.com gitlab.com bitbucket.org golang.org google.golang.org gopkg.in go.uber.org k8s.io " +
	"sigs.k8s.io cloud.google.com go.opentelemetry.io gonum.org go.etcd.io modernc.org"

func publicModule(path string) bool {
	host, _, _ := strings.Cut(strings.Trim(path, "\"`"), "/")
	return scan.HasField(publicHosts, host) && len(path) <= maxPackageName && !strings.ContainsAny(path, "?%#\\:")
}

// requiresPublicModules reports whether a go.mod requires only modules of publicHosts.
func requiresPublicModules(text string) bool {
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case block == "" && len(words) > 1 && words[1] == "(":
			block = words[0]
			continue
		case words[0] == ")":
			block = ""
			continue
		case block == "":
			words = words[1:]
		}
		verb := block
		if verb == "" {
			verb, _, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		if scan.HasField("go toolchain module retract godebug", verb) {
			continue
		}
		if at := slices.Index(words, "=>"); at >= 0 && at+1 < len(words) && !pathLike(words[at+1]) &&
			!publicModule(words[at+1]) || len(words) == 0 || !publicModule(words[0]) {
			return false
		}
	}
	return true
}

// asksPublicModules reports whether go list only asks about modules of publicHosts.
func (p *parsed) asksPublicModules() bool {
	return !slices.ContainsFunc(p.operands, func(operand word) bool {
		path, version, _ := strings.Cut(operand.text, "@")
		return !operand.known() || path != "all" && !publicModule(path) || !plainVersion(version)
	})
}

// plainVersion reports whether a text is a version of a module, or a query such as latest.
func plainVersion(text string) bool {
	return len(text) < 40 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789.+-") == ""
}
