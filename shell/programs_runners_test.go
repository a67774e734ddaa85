package shell

import (
	"strings"
	"testing"

	"github.com/umpirehq/umpire"
)

// TestRunners checks the default that lets a project's own tests run, and its limits.
func TestRunners(t *testing.T) {
	t.Parallel()
	for risk, lines := range map[umpire.Risk]string{
		umpire.Safe: `
go test ./...
go test
go test -v -race -count=1 -run 'TestA|TestB' ./pkg/a ./pkg/b
go test x_test.go x.go
go test -ldflags "-s -w -X main.version=1" ./...
go test -gcflags 'all=-N -l' .
cargo test
cargo test --workspace --all-features parse -- --nocapture --test-threads=1
cargo check --all-targets
cargo build --release
cargo clippy --all-targets -- -D warnings -A clippy::too_many_lines
pytest
pytest -xvs tests/test_a.py::TestB::test_c -k 'not slow' --tb=short
python -m pytest -q --maxfail 1 -p no:cacheprovider --cov=src --cov-report term-missing
jest --ci --coverage src/a.test.js -t 'a name'
npx jest --watch=false
vitest run src/a.test.ts --reporter=verbose
npx vitest --run
mocha --grep a -R dot test/*.js
phpunit --filter testA tests/ATest.php
rspec spec/a_spec.rb:12 -f d --tag ~slow
dotnet test --no-build --filter Name=A -v q -l console
mvn -q -B test -Dtest=ATest
gradle test --tests 'a.B' --offline
gradle clean build -x lint
mvn clean verify
mvn package -DskipTests
gradle :core:test`,
		umpire.Low: `
go build ./...
go build -o bin/x .
go build -race -tags a`,
		umpire.Medium: `
go build -buildmode c-archive -o x.a .
go build -ldflags -extld=./x
go build -ldflags "-linkmode external -extld ./x" .
go build -gcflags=-cpuprofile=x .
go build -gccgoflags -x .
go build -mod=mod ./...
go test -exec ./x ./...
go test -toolexec=./x ./...
go test -c ./a
go test -coverprofile=c.out ./...
go test ./... -args -update
go test ./... -update
go test example.test/x
go test ""
go -C sub test -vet=off -overlay o.json
cargo test --config x=1
cargo test --target x.json
cargo build --artifact-dir out
cargo test -- --logfile x
cargo clippy --fix
cargo clippy -- -C linker=./x
cargo clippy -- -D warnings -Clinker=./x
cargo check x
cargo run
pytest -p evil
pytest -c x.ini
pytest --rootdir=/x
pytest -o addopts=x
pytest --pdbcls=a:B
pytest -W error::a.B
pytest --cov-report html:x
pytest --junitxml=x.xml
pytest @args
pytest "$X"
jest --config x.js
jest --env ./x.js
jest -t --config=x.js
jest --watch
jest -u
vitest --config x.ts
vitest --reporter ./x.js
vitest --environment ./x.js
vitest -t --config x.ts
vitest --root x
mocha -r ./x.js
mocha --reporter ./x.js
npx mochaa
npx cowsay
phpunit -c x.xml
phpunit --bootstrap x.php
rspec -r ./x
rspec -f ./x
dotnet test -- RunConfiguration.TestAdaptersPaths=x
dotnet test --logger trx
dotnet test -p:A=b
dotnet run
mvn install
mvn exec:java
mvn -f x test
mvn -Dmaven.ext.class.path=x test
mvn
gradle run
gradle -I x.gradle test
gradle -p x test
./gradlew test
make test`,
		umpire.High: `
mvn test deploy
gradle test publish
vitest init browser
cargo install x
dotnet nuget push x`,
	} {
		for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
			t.Run(line, func(t *testing.T) {
				t.Parallel()
				facts := umpire.Facts{Accesses: Parse(line, testEnv)}
				if got := facts.Risk(); got != risk {
					t.Errorf("risk %s, want %s\n%s", got, risk, seen(facts.Accesses))
				}
			})
		}
	}
}

// TestRunnersSayWhy: one text identifies every use of the default.
func TestRunnersSayWhy(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"npm test", "go test", "cargo check", "pytest", "jest", "vitest", "mocha", "phpunit", "rspec", "dotnet test",
		"mvn test", "gradle test",
	} {
		if got := Parse(line, testEnv)[0].Reason; got != runsTests {
			t.Errorf("%s: %q", line, got)
		}
	}
}
