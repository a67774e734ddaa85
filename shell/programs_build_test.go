package shell

import (
	"testing"

	"github.com/umpirehq/umpire"
)

func TestBuildTools(t *testing.T) {
	t.Parallel()
	checkFamilyRisks(t, []riskCase{
		{"go looks", "go version", umpire.Safe}, {"go looks", "go env GOPATH", umpire.Safe}, {"go looks", "go list ./...", umpire.Safe}, {"go looks", "go doc fmt.Println", umpire.Safe}, {"go looks", "go vet ./...", umpire.Safe}, {"go looks", "go mod graph", umpire.Safe}, {"go looks", "go mod why -m example.test/x", umpire.Safe}, {"go looks", "go list -m all", umpire.Safe},
		{"go settings", "go env -w GOFLAGS=-x", umpire.High}, {"go runs", "go vet -vettool=./x ./...", umpire.Medium}, {"go runs", "go vet --vettool=./x ./...", umpire.Medium}, {"go runs", "go list -toolexec ./x ./...", umpire.Medium}, {"go builds", "go build ./...", umpire.Low}, {"go tests", "go test -v -run TestX ./...", umpire.Safe}, {"go runs", "go run .", umpire.Medium},
		{"go downloads", "go run example.test/x@latest", umpire.High}, {"go downloads", "go install example.test/x@latest", umpire.High}, {"go downloads", "go get example.test/x", umpire.High}, {"go downloads", "go mod download example.test/x@latest", umpire.High}, {"go downloads", "go list -m -versions example.test/x", umpire.Medium},
		{"go deletes", "go clean -modcache", umpire.High}, {"go writes", "go mod tidy", umpire.Medium}, {"go writes", "go fmt ./...", umpire.Medium}, {"go writes", "gofmt -w .", umpire.Medium}, {"go prints", "gofmt -l .", umpire.Safe}, {"go prints", "gofmt -d a.go", umpire.Safe}, {"go prints", "goimports -l a.go", umpire.Safe},
		{"go environment", "GOFLAGS=-toolexec=./x go vet ./...", umpire.Medium}, {"go unknown", "go list -frobnicate", umpire.Medium}, {"go lints", "golangci-lint run ./...", umpire.Safe}, {"go lints", "golangci-lint run --fix", umpire.Medium}, {"go lints", "golangci-lint run --conf x.yml", umpire.Medium}, {"go lints", "staticcheck ./...", umpire.Safe},
		{"cargo", "cargo --version", umpire.Safe}, {"cargo", "cargo tree", umpire.Safe}, {"cargo", "cargo metadata --format-version 1", umpire.Safe}, {"cargo", "cargo check", umpire.Safe}, {"cargo", "cargo test", umpire.Safe}, {"cargo", "cargo install x", umpire.High}, {"cargo", "cargo --config x=1 tree", umpire.Medium}, {"cargo", "cargo fmt --check", umpire.Safe}, {"cargo", "cargo fmt -- --check", umpire.Safe}, {"cargo", "cargo fmt", umpire.Medium},
		{"make", "make", umpire.Medium}, {"make", "make -n all", umpire.Medium}, {"make", "make --version", umpire.Safe}, {"make", "make --help SHELL=./x all", umpire.Medium}, {"make", "make -C sub", umpire.Medium},
		{"checks", "tsc --noEmit", umpire.Safe}, {"checks", "tsc --strict", umpire.Medium}, {"checks", "eslint .", umpire.Safe}, {"checks", "eslint -c x.js .", umpire.Medium}, {"checks", "eslint --format ./x.js .", umpire.Medium}, {"checks", "prettier --check .", umpire.Safe}, {"checks", "prettier --write .", umpire.Medium}, {"checks", "ruff check .", umpire.Safe}, {"checks", "ruff check --fix .", umpire.Medium}, {"checks", "ruff format --check", umpire.Safe}, {"checks", "ruff format", umpire.Medium},
		{"checks", "black --check .", umpire.Safe}, {"checks", "black .", umpire.Medium}, {"checks", "black --line-length 90 .", umpire.Medium}, {"checks", "mypy src", umpire.Safe}, {"checks", "mypy --config-file x src", umpire.Medium}, {"checks", "mypy src --junit-xml out.xml", umpire.Medium}, {"checks", "pylint --init-hook=x a.py", umpire.Medium}, {"checks", "flake8 src", umpire.Safe}, {"checks", "shellcheck x.sh", umpire.Safe},
		{"tests", "pytest -q", umpire.Safe}, {"tests", "npx vitest run", umpire.Safe}, {"compiles", "gcc -o a a.c", umpire.Medium}, {"compiles", "gcc --version", umpire.Safe}, {"compiles", "javac -version -processorpath e.jar P.java", umpire.Medium}, {"builds", "dotnet build", umpire.Safe}, {"builds", "dotnet publish", umpire.High}, {"builds", "cmake -P x.cmake", umpire.Medium}, {"publishes", "mvn deploy", umpire.High}, {"a task may bear any name", "rake version", umpire.Medium},
		{"go modules", "go list -mod=readonly ./...", umpire.Safe}, {"go modules", "go list -mod=mod ./...", umpire.Medium}, {"go modules", "go vet -mod mod ./...", umpire.Medium}, {"reports", "golangci-lint run --out-format json", umpire.Safe}, {"reports", "golangci-lint run --out-format json:x", umpire.Medium}, {"reports", "golangci-lint run --output.text.path=x", umpire.Medium}, {"reports", "golangci-lint run --output.text.path stdout", umpire.Safe},
		{"a letter of another program", "actionlint -shellcheck=./x", umpire.Medium}, {"a letter of another program", "codespell -d -w a", umpire.Medium}, {"response file", "mypy @x", umpire.Medium}, {"interpreter", "pyright -p x", umpire.Medium}, {"unset", "tsc --noEmit null", umpire.Medium}, {"runs a command", "cloc --vcs=./x", umpire.Medium},
	})
	checkFamilyAccesses(t, []accessCase{
		{"go build -o ../bin .", umpire.KindWrite, "/p/../bin"},
		{"go test -coverprofile=/etc/x ./...", umpire.KindWrite, "/etc/x"},
		{"gofmt -w /etc/x.go", umpire.KindWrite, "/etc/x.go"},
		{"gcc @/etc/shadow", umpire.KindRead, "/etc/shadow"},
		{"mypy /etc/shadow", umpire.KindRead, "/etc/shadow"},
		{"rustc a.rs -o /etc/x", umpire.KindWrite, "/etc/x"},
		{"make -f /tmp/x.mk", umpire.KindRead, "/tmp/x.mk"},
		{"black /etc/x.py", umpire.KindWrite, "/etc/x.py"},
	})
}
