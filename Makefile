# Tidemark's commands. "make help" lists them.

GO ?= go

# Every module of the repository, and those whose tests run in each kind of
# test. The tools module holds no package of its own.
MODULES := . adapters/kafka bench/peers

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
test: lint test-cross test-unit test-race test-386 test-fuzz test-bench ## runs everything below that is called lint or test-, but test-broker

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
test-race: ## the same, with shorter loops, under the race detector
	@tools/in race "$(MODULES)" $(GO) test -race -short $(TESTFLAGS) ./...

.PHONY: test-386
test-386: ## the same, with shorter loops, with 32-bit words
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

.PHONY: fuzz
fuzz: ## a long run of every fuzz target (FUZZTIME=2000000x, FUZZ=^Fuzz)
	@tools/in fuzz "$(MODULES)" env GO=$(GO) $(CURDIR)/tools/fuzz $(or $(FUZZTIME),2000000x) '$(FUZZ)'

.PHONY: bench
bench: ## measures against channels and mutexes, arms interleaved (BENCH=regexp, ROUNDS, BENCHTIME, ARGS)
	@$(GO) build -o bin/bench ./bench/cmd/run
	@exec bin/bench $(if $(BENCH),-bench '$(BENCH)') $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(BENCHTIME),-benchtime $(BENCHTIME)) $(ARGS)

.PHONY: bench-docs
bench-docs: ## fills docs/BENCHMARKS.md from FIGURES (bench/results/figures.txt, made with make bench ARGS="-o FILE")
	@$(GO) run ./bench/cmd/doc $(if $(FIGURES),-in '$(FIGURES)')

.PHONY: clean
clean: ## removes what the other targets built
	rm -rf bin
