# Tidemark's commands. "make help" lists them.

GO ?= go

# Every module of the repository, and those whose tests run in each kind of
# test. The tools module holds no package of its own.
MODULES := . adapters/kafka adapters/prometheus bench/peers

# Which fuzz targets to run. How often is FUZZTIME, a count of executions and
# not a duration, because Go up to 1.26 can report the end of a duration as a
# failure.
FUZZ ?= ^Fuzz

# Vet is off in tests because lint-vet runs all of it once.
TESTFLAGS ?= -count=1 -timeout 5m -vet=off
STATICCHECK := $(CURDIR)/bin/staticcheck
HOST := $(shell $(GO) env GOHOSTOS)/$(shell $(GO) env GOHOSTARCH)

# Steps share two cores, and their times are reported: one at a time.
.NOTPARALLEL:
.DEFAULT_GOAL := help

.PHONY: help
help: ## lists the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A variable that is not set passes nothing, and the program's own default
# holds.
.PHONY: demo
demo: ## a pipeline from an input file through Kafka (INPUT, BROKERS, GROUP, DATA, OUT, HTTP, LEDGER_CAPACITY, ARGS)
	@$(GO) build -C adapters/kafka -o $(CURDIR)/bin/demo ./cmd/demo
	@exec bin/demo $(if $(INPUT),-input '$(INPUT)') $(if $(BROKERS),-brokers '$(BROKERS)') $(if $(GROUP),-group '$(GROUP)') $(if $(DATA),-data '$(DATA)') $(if $(OUT),-out '$(OUT)') $(if $(HTTP),-http '$(HTTP)') $(if $(LEDGER_CAPACITY),-ledger-capacity '$(LEDGER_CAPACITY)') $(ARGS)

# The steps of "make test". With make -k a step runs even after a failure in
# an earlier one.
.PHONY: test
test: lint test-cross test-unit test-race test-386 test-explore test-fuzz test-bench ## runs everything below that is called lint or test-, but test-broker

.PHONY: lint
lint: lint-format lint-vet lint-static lint-tidy ## every check that runs no code

.PHONY: lint-format
lint-format: ## gofmt
	@tools/in gofmt . tools/gofmt

.PHONY: lint-vet
lint-vet: ## go vet
	@tools/in vet "$(MODULES)" $(GO) vet ./...

.PHONY: lint-static
lint-static: bin/staticcheck ## staticcheck, built from the version that tools/go.mod pins
	@tools/in staticcheck "$(MODULES)" $(STATICCHECK) ./...

.PHONY: lint-tidy
lint-tidy: ## go.mod and go.sum say what the sources need
	@tools/in tidy "$(MODULES) tools" $(GO) mod tidy -diff

bin/staticcheck: tools/go.mod tools/go.sum 
	@tools/in build-linter tools $(GO) build -o $(STATICCHECK) honnef.co/go/tools/cmd/staticcheck

.PHONY: test-unit
test-unit: ## unit, conformance, property, example and docs tests
	@tools/in test "$(MODULES)" $(GO) test $(TESTFLAGS) ./...

.PHONY: test-race
test-race: ## the same under the race detector, with shorter loops and without what it cannot change
	@tools/in race "$(MODULES)" $(GO) test -race -short $(TESTFLAGS) ./...

.PHONY: test-386
test-386: ## as many of them with 32-bit words
ifneq ($(filter linux/amd64 linux/386 windows/amd64 windows/386,$(HOST)),)
	@tools/in 386 "$(MODULES)" env GOARCH=386 $(GO) test -short $(TESTFLAGS) ./...
else
	@echo "386 tests cannot run on $(HOST): compiling them instead"
	@tools/in 386 "$(MODULES)" env GOARCH=386 $(GO) vet ./...
endif

.PHONY: test-cross
test-cross: test-arm test-arm64 ## vet and build for arm and arm64

.PHONY: test-arm test-arm64
test-arm test-arm64: test-%: ## vet and build for this platform
	@tools/in $* "$(MODULES)" env GOARCH=$* sh -c '$(GO) vet ./... && $(GO) build ./...'

# The packages whose shared memory is explored. They are tested side by side, one
# processor each.
EXPLORED := ./mpsc ./ringbuf ./core/checkpoint ./core/timing
EXPLORE = $(GO) test -tags explore -run '^TestExplore' -count=1 -vet=off -timeout 6h $(EXPLORED)
EXPLORE_RESULTS := $(CURDIR)/internal/explore/results.txt

.PHONY: test-explore
test-explore: ## small programs over the lock-free packages, in every order of their shared operations
	@tools/in explore . env TIDEMARK_EXPLORE=short sh -c "$(GO) vet -tags explore $(EXPLORED) ./internal/explore/... && $(EXPLORE)"

.PHONY: explore
explore: ## the same with larger programs, and with known bugs that must be found (two minutes)
	@tools/in explore . env TIDEMARK_EXPLORE=usual $(EXPLORE)
	@tools/in mutants . $(GO) test -tags explore -run '^TestEveryMutantIsFound$$' -parallel 2 -count=1 -vet=off -timeout 1h ./internal/explore/mutants

.PHONY: explore-full
explore-full: ## the same as make explore with programs that take longer
	@tools/in explore . env TIDEMARK_EXPLORE=full $(EXPLORE)

.PHONY: explore-docs
explore-docs: ## make explore-full, and writes its table in docs/TESTING.md
	@rm -f $(EXPLORE_RESULTS)
	@tools/in explore . env TIDEMARK_EXPLORE=full TIDEMARK_EXPLORE_RESULTS=$(EXPLORE_RESULTS) $(EXPLORE) -p 1
	@$(GO) run ./internal/explore/table

.PHONY: test-fuzz
test-fuzz: ## a short run of every fuzz target
	@tools/in fuzz "$(MODULES)" env GO=$(GO) $(CURDIR)/tools/fuzz $(or $(FUZZTIME),20000x) '$(FUZZ)'

.PHONY: test-bench
test-bench: ## runs every benchmark once
	@tools/in bench-once "$(MODULES)" $(GO) test -run '^$$' -bench . -benchtime 1x $(TESTFLAGS) ./...

# The tests it runs are part of test-unit with a few ten thousand operations.
.PHONY: long
long: ## a hundred million operations on every structure, with memory flat, under 1, 2 and 8 processors and GOGC=1 and off (OPERATIONS)
	@tools/in long . env LONG_OPERATIONS=$(or $(OPERATIONS),100000000) $(GO) test -v -p 1 -run '^TestLong' -count=1 -timeout 6h -vet=off ./mpsc ./ringbuf ./core/...

# On an Apache Kafka of its own, whose jars Maven copies to the user's cache. It
# is no part of "make test", because it needs a JDK and Maven.
.PHONY: test-broker
test-broker: ## the tests of the Kafka adapter and its demo that any broker can run, on a real one
	@$(GO) build -C adapters/kafka -o $(CURDIR)/bin/with-broker ./cmd/with-broker
	@tools/in broker adapters/kafka $(CURDIR)/bin/with-broker $(GO) test $(TESTFLAGS) . ./cmd/demo

.PHONY: chaos
chaos: ## the Kafka pipeline under kills, freezes and faults, with an oracle (SEED, TIME=60s or 8h)
	@tools/in chaos adapters/kafka env TIDEMARK_CHAOS_TIME=$(or $(TIME),60s) $(if $(SEED),TIDEMARK_SEED=$(SEED)) $(GO) test -v -count=1 -timeout 0 -vet=off ./internal/chaos

.PHONY: fuzz
fuzz: ## a long run of every fuzz target (FUZZTIME=2000000x, FUZZ=^Fuzz)
	@tools/in fuzz "$(MODULES)" env GO=$(GO) $(CURDIR)/tools/fuzz $(or $(FUZZTIME),2000000x) '$(FUZZ)'

# What is measured. The pipeline takes a second for one iteration, and as much
# to get ready.
BENCH_PACKAGES := ./bench ./bench/peers ./adapters/kafka/internal/pipeline,benchtime=1x,rounds=6
# Two legs measure this module alone: what it ships, and not what it is compared with.
BENCH_LEGS := -impl '$(or $(IMPL),tidemark|lane|shared|ring)' ./bench
BENCH_FLAGS = $(if $(BENCH),-bench '$(BENCH)') $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(BENCHTIME),-benchtime $(BENCHTIME)) $(ARGS)
BENCH_OUT = $(or $(OUT),bench/out/$(shell date -u +%Y%m%dT%H%M%SZ)-$@.txt)

.PHONY: bench
bench: ## measures against channels and mutexes in ten minutes, and compares (BENCH=regexp, IMPL=regexp, TIME, ROUNDS, BENCHTIME, OUT, ARGS)
	@exec env GO=$(GO) tools/bench $(BENCH_OUT) -time $(or $(TIME),9m30s) $(if $(IMPL),-impl '$(IMPL)') $(BENCH_FLAGS) $(BENCH_PACKAGES)

.PHONY: bench-full
bench-full: ## the same with 12 rounds of everything, for figures to publish (about an hour; OUT=bench/results/figures.txt)
	@exec env GO=$(GO) tools/bench $(BENCH_OUT) -rounds 12 -benchtime 100ms -extra 12 $(if $(IMPL),-impl '$(IMPL)') $(BENCH_FLAGS) $(BENCH_PACKAGES)

.PHONY: bench-gate
bench-gate: bin/benchstat-report ## fails if a benchmark is slower than at the commit BASE (BENCH, IMPL, TIME, NOISE=file of bench-aa)
	@bin/benchstat-report run -base '$(or $(BASE),$(error BASE is not set: make bench-gate BASE=main))' -time $(or $(TIME),9m30s) -o bench/out/gate.txt $(BENCH_FLAGS) $(BENCH_LEGS)
	@exec bin/benchstat-report gate $(if $(NOISE),-noise '$(NOISE)') bench/out/gate.txt

.PHONY: bench-aa
bench-aa: bin/benchstat-report ## compares the sources with themselves: how far two equal measurements lie apart here
	@bin/benchstat-report run -aa -time $(or $(TIME),9m30s) -o bench/out/aa.txt $(BENCH_FLAGS) $(BENCH_LEGS)
	@exec bin/benchstat-report gate bench/out/aa.txt

.PHONY: bench-docs
bench-docs: bin/benchstat-report ## writes the figures and the charts of the documents from FIGURES (bench/results/figures.txt)
	@$(GO) run ./bench/cmd/figures -docs -tool bin/benchstat-report $(FIGURES)

.PHONY: bin/benchstat-report
bin/benchstat-report:
	@$(GO) build -o $@ ./cmd/benchstat-report

.PHONY: clean
clean: ## removes what the other targets built
	rm -rf bin
