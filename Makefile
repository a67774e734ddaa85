.DEFAULT_GOAL := help
SHELL := /bin/bash

FUZZTIME ?= 10m
BENCH ?= .
ROUNDS ?= 5
LARGE ?=
COUNT ?= 1
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.15.1
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

.PHONY: build
build: ## Build the executables into bin/, without what only debuggers need
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o bin/ ./cmd/...

.PHONY: test
test: ## Run the tests, with the race detector too, after installing what they need
	@.ci/test

.PHONY: gates
gates: ## Run the four gates of a release; their logs are in bin/gates
	COUNT='$(COUNT)' .ci/gates

.PHONY: lint
lint: ## Run gofmt, go vet and golangci-lint
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }
	go vet ./...
	go run $(GOLANGCI) run
	go -C lab vet -tags interop ./...
	cd lab && go run $(GOLANGCI) run --build-tags interop

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (10m), one after another
	@set -euo pipefail; \
	for pkg in $$(go list ./...); do \
		listed=$$(go test -list '^Fuzz' "$$pkg"); \
		for target in $$(grep '^Fuzz' <<<"$$listed" || true); do \
			echo "fuzz: $$pkg $$target for $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$pkg"; \
		done; \
	done

.PHONY: bench
bench: ## Measure umpire beside named alternatives, ROUNDS (5) times; BENCH selects rows, LARGE=-large the largest sizes
	cd lab && go run ./bench -rounds $(ROUNDS) -only '$(BENCH)' -growth $(LARGE) -plots ../bin/bench

.PHONY: interop
interop: ## Check against the real agents installed on this machine
	go -C lab test -tags interop -count 1 -timeout 60m -parallel 4 -v ./interop

.PHONY: pictures
pictures: ## Draw the pictures in docs again: of chat and try, and the film of Claude Code (as make interop)
	go test -count 1 -run 'TestScripts/(chat|try)_picture' ./internal/cli -update
	UMPIRE_INTEROP_ONLY=claude go -C lab test -tags interop -count 1 -run TestFilm ./interop -film '$(CURDIR)/docs/claude.svg'

.PHONY: reality
reality: ## Run what is called safe in a throw-away project, and watch it (Linux, strace)
	go test -tags reality -count 1 -run Reality -v ./shell

.PHONY: options
options: ## Run each value option of forty tools on the names of files, and compare what is opened (Linux, strace)
	go test -count 1 -timeout 60m -run 'TestValueOptions$$' -v ./shell -options.all

LINES ?= 15000
SEED ?= 1

.PHONY: differential
differential: ## Run LINES (15000) made lines that are allowed in six shells: no payload may start (Linux)
	go test -count 1 -timeout 60m -run 'TestDifferential$$' -v ./shell -differential.all -differential.lines $(LINES) -differential.seed $(SEED)

.PHONY: approvals
approvals: ## Approve a call of every kind by each scope and width that its card offers, over each store (Linux)
	go test -count 1 -timeout 30m -run 'TestApprovals$$' -v ./internal/cli -approvals.all

.PHONY: clones
clones: ## Open every hostile clone of testdata/clones in every mode, and print what was counted (Linux)
	go test -count 1 -timeout 90m -run 'TestClones$$' -v ./internal/cli -clones.all

SEQUENCES ?= 2000
CRASHES ?= 1000
RUNS ?= 30

.PHONY: trials
trials: ## Compare SEQUENCES (2000) with the same in earnest, end trials CRASHES (1000) times, try to leave them (Linux, root)
	UMPIRE_TRIAL_SEQUENCES=$(SEQUENCES) UMPIRE_TEST_CRASHES=$(CRASHES) \
		go test -count 1 -timeout 90m -v -run 'TestRandom|TestKilled|TestTrial|TestNothingLeaks|TestOnFileSystems|TestEditor' ./internal/hold/trial
	go test -count 1 -v -run 'TestProbeTableInAnOverlay|TestOverlaysAsAnotherUser' ./internal/hold/sandbox
	go -C lab test -count 1 -timeout 60m -v -run 'TestDanger$$' ./trees -trees.danger
	UMPIRE_TRIAL_SPEED=$(RUNS) go test -count 1 -timeout 30m -v -run 'TestSpeed$$' ./internal/hold/trial

.PHONY: trees
trees: ## Fetch ten trees from the registries of Go and npm, and try two hundred commands in them (Linux)
	go -C lab test -count 1 -timeout 90m -v -run 'TestTrees$$' ./trees -trees.all

.PHONY: workflows
workflows: ## Count the questions of three hundred workflows of git, and time switch in a tree of 100,000 files (Linux)
	go -C lab test -count 1 -timeout 60m -v -run 'TestGitWorkflows|TestSwitchInLargeTree' ./trees -trees.git

UNASKED ?= 1000

.PHONY: unasked
unasked: ## Play UNASKED (1000) sequences of calls, and look at what those did that needed no question (Linux, root)
	go -C lab test -count 1 -timeout 90m -v -run 'TestUnaskedSequences$$' ./trees -trees.sequences $(UNASKED)

.PHONY: pages
pages: ## Open every page of the console in each language, width and colour; pictures in bin/pages (Chromium)
	mkdir -p bin/pages
	UMPIRE_PICTURES='$(CURDIR)/bin/pages' go test -count 1 -timeout 20m -run 'Test(Pages|Flow|Inbox)InABrowser$$' -v ./internal/console -pages.all

VERSION ?=

.PHONY: changelog
changelog: ## Move the entries of changelog/unreleased into CHANGELOG.md, as the section of VERSION
	packaging/changelog.sh '$(VERSION)' "$$(date +%F)"

.PHONY: packages
packages: ## Build what a release consists of, and try each package in a fresh Debian (Linux, root)
	.ci/packages

.PHONY: full
full: ## Run the figures that take too long for every commit, and print them as a table; logs in bin/full; PARTS names the only ones to run
	.ci/full $(PARTS)

KILLS ?= 20000
STORE ?= sqlite

.PHONY: kills
kills: ## End the real program KILLS (20000) times over STORE (sqlite, postgres, replicas), and look at what is left
	go -C lab test -count 1 -timeout 0 -run '^TestKills$$/^$(STORE)$$' -v ./crash -kills $(KILLS)

.PHONY: team-bench
team-bench: ## Measure the figures of docs/team.md
	go -C lab test -run '^$$' -bench Team -benchtime 3s ./crash

.PHONY: cover
cover: ## Write cover.html and print coverage per package
	go test -coverprofile cover.out -coverpkg ./... ./...
	go tool cover -html cover.out -o cover.html
	@go tool cover -func cover.out | tail -1

.PHONY: generate
generate: ## Write the generated files again
	go generate ./...

.PHONY: clean
clean: ## Remove what the other targets wrote
	rm -rf bin dist dist-documents cover.out cover.html
