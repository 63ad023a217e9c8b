# Every way to build, test and look at kubectl-kruise. `make` alone lists them.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
export GOTOOLCHAIN := local
# With -trimpath, tests and the binary share what the compiler made, in all checkouts.
export GOFLAGS := -trimpath $(GOFLAGS)

BIN     := bin
OUT     := out
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X github.com/kubectl-kruise/kubectl-kruise/internal/cli/version.version=$(VERSION)
GO_FILES = $(shell find cmd internal pkg -name '*.go' 2>/dev/null)

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

.PHONY: build
build: $(BIN)/kubectl-kruise ## Build bin/kubectl-kruise

$(BIN)/kubectl-kruise: $(GO_FILES) go.mod go.sum
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/kubectl-kruise

.PHONY: demo
demo: $(BIN)/kubectl-kruise ## Render the example shop, then plan and simulate a rollout of it
	@hack/demo.sh $(BIN)/kubectl-kruise $(OUT)/shop

# Tests that need Go alone, and those with real servers and neighbours, which testrun runs side by side:
# every package to its end, one line for each, and the failures once more at the end. What go test says of
# each test is in out/tests.json. TESTFLAGS are for go test; its cache leaves out what has not changed
# (TESTFLAGS=-count=1 runs all). The linters vet; without cgo, as the product is released, tests link faster.
RUN_TESTS = mkdir -p $(OUT) && $(BIN)/gotestsum --format pkgname-and-test-fails --format-hide-empty-pkg --hide-summary skipped \
  --jsonfile $(OUT)/tests.json --raw-command -- go run ./internal/testing/testrun
GO_TEST_FLAGS = $(if $(RACE),-race) $(TESTFLAGS)
# The compiler and the linker take a quarter less of the processor when they collect garbage rarely; tests
# do not see this GOGC (internal/testing/hermetic).
GO_TEST = $(if $(RACE),,CGO_ENABLED=0) GOGC=400 KUBECTL_KRUISE_TEST_TOOLS=1 go test -vet=off -timeout=45m $(GO_TEST_FLAGS)

.PHONY: test
test: ## Run all tests that need Go and nothing else (RACE=1 adds the race detector, which needs a C compiler)
	$(GO_TEST) ./...

.PHONY: test-all
test-all: test $(BIN)/gotestsum $(BIN)/kustomize $(BIN)/krew $(BIN)/helm3 $(BIN)/helm4 cluster ## Run these, and those with real servers and neighbours: Kubernetes, Argo CD, Flux, Helm, krew, kustomize
	$(GO_TEST) ./cmd/kubectl-kruise -run Docs # with kustomize
	$(RUN_TESTS) -parts cluster,argocd,flux -- $(GO_TEST_FLAGS)

.PHONY: check
check: $(BIN)/gotestsum $(BIN)/golangci-lint $(BIN)/kustomize ## Lint changed packages, and run their unit tests and those of packages that import them (BASE=main: since this commit)
	$(BIN)/golangci-lint fmt --diff
	packages=$$(go run ./internal/testing/testrun -list changed -base '$(BASE)'); [ -z "$$packages" ] || $(BIN)/golangci-lint run $$packages
	$(RUN_TESTS) -parts unit -affected -base '$(BASE)' -- -short $(GO_TEST_FLAGS)
	go vet -C test ./...

.PHONY: test-cluster
test-cluster: $(BIN)/gotestsum $(BIN)/krew $(BIN)/helm3 $(BIN)/helm4 cluster ## Run only the tests that need a real control plane
	$(RUN_TESTS) -parts cluster -- $(GO_TEST_FLAGS)

.PHONY: test-times
test-times: ## List the seconds of each package in the last run of test-all
	@go run ./internal/testing/testrun -times $(OUT)/tests.json

.PHONY: test-table
test-table: ## Write the seconds of the last run of test-all into the table of CONTRIBUTING.md
	go run ./internal/testing/testrun -times $(OUT)/tests.json -table CONTRIBUTING.md

.PHONY: test-chaos
test-chaos: cluster ## Run 2,000 random rollouts with faults and kills, in parts (CHAOS_SEED is the first; continues where it stopped)
	hack/chaos.sh $(or $(CHAOS_SEED),0) $(or $(CHAOS_HISTORIES),2000) $(or $(CHAOS_PART),50) $(OUT)/chaos.next
	CHAOS_KILLED=$(or $(CHAOS_KILLED),10) go test -C test ./e2e/rollout -run '^TestKilled_ResumesElsewhere$$' -count=1 -timeout 120m
	CHAOS_DETACHED=$(or $(CHAOS_DETACHED),50) go test -C test ./e2e/rollout -run '^TestDetached_ContinuesAfterKills$$' -v -count=1 -timeout 60m

.PHONY: test-rollouts
test-rollouts: cluster ## Run the tests that drive rollouts on a real control plane
	go test -C test -timeout 45m $(TESTFLAGS) ./e2e/rollout/...

.PHONY: test-commands
test-commands: cluster ## Run the tests of plain verbs (set, create, migrate ...) on a real control plane
	go test -C test -timeout 45m $(TESTFLAGS) ./e2e/commands/...

.PHONY: test-screens
test-screens: cluster ## Run the tests of the terminal interface in a terminal, on a real control plane
	go test -C test -timeout 45m $(TESTFLAGS) ./e2e/ui/...

.PHONY: test-scale
test-scale: cluster ## Count what commands cost on a cluster of 10,000 pods, and a group of 200 rollouts (SCALE="-namespaces 125 -workloads 500 -pods 2500" is a quarter)
	go test -C test -timeout 60m -count=1 $(TESTFLAGS) -v ./e2e/scale $(if $(SCALE),-args $(SCALE))
	go test -C test -timeout 60m -count=1 $(TESTFLAGS) -v ./cluster -run '^TestManyPods' -args -pods 5000
	CHAOS_GROUP=$(or $(CHAOS_GROUP),200) go test -timeout 60m -count=1 $(TESTFLAGS) ./internal/cli/rollout -run '^TestGroup_ManyWorkloadsShareWatches$$'

SOAK ?= 24h
.PHONY: soak
soak: ## Run rollouts for SOAK=24h in the time of the model, and check that nothing grows
	go test ./pkg/tui/demo -run TestAdvance_MemoryDoesNotGrow -count=1 -timeout 120m -v -args -soak $(SOAK)

SOAK_TIME ?= 20m
.PHONY: soak-cluster
soak-cluster: cluster ## Run rollouts on a real control plane for SOAK_TIME=20m, and check that nothing grows
	go test -C test ./e2e/rollout -run '^TestSoak_ManyRolloutsInOneProcess$$' -count=1 -timeout 180m -v -args -soak $(SOAK_TIME)

.PHONY: test-ecosystem
test-ecosystem: $(BIN)/kustomize $(BIN)/krew $(BIN)/helm3 $(BIN)/helm4 cluster ## Run the tests with real neighbours: kustomize, krew, kubectl, Helm, Flux's libraries, Argo CD
	go test $(TESTFLAGS) ./pkg/render/fn ./pkg/render/kustomize ./internal/cli/doctor/...
	go test -C test $(TESTFLAGS) ./krew ./helm
	go test -C test/flux $(TESTFLAGS) ./...
	go test -C test/argocd -timeout 45m $(TESTFLAGS) ./... # its first run compiles Argo CD: minutes

.PHONY: cluster
cluster: ## Build the servers of the test cluster, once per version, into the user's cache
	go run -C test ./cluster/cmd/build

.PHONY: playground
playground: $(BIN)/kubectl-kruise cluster ## Start a cluster with the example shop on it, to try things out
	go run -C test ./cluster/cmd/playground start

.PHONY: playground-stop
playground-stop: ## Stop it, and remove what it kept
	go run -C test ./cluster/cmd/playground stop

.PHONY: conformance
conformance: ## Compare with the recorded behaviour of the real Kruise, with counts per area
	go test ./... -run Conformance -v | grep -E '^(conformance |FAIL|--- FAIL|ok )' | grep -v 'no tests to run'

.PHONY: conformance-cluster
conformance-cluster: cluster ## Compare the stand-ins for Kruise on a real API server with the recordings
	CONFORMANCE_CASES=all go test -C test ./cluster/standin -run Conformance -v | grep -E '^(conformance |FAIL|--- FAIL|    --- FAIL|ok )'

.PHONY: accept
accept: cluster ## Apply what is rendered to API servers of all versions that the test cluster has
	for line in $(SERVER_LINES); do KUBECTL_KRUISE_SERVER=$$line go test -C test -count=1 ./e2e/accept; done

SERVER_LINES = $(notdir $(wildcard test/cluster/binaries/v*))

.PHONY: lint
lint: $(BIN)/golangci-lint $(BIN)/actionlint ## Check formatting and run the linters
	$(BIN)/actionlint .github/workflows/*.yaml plugins/ci/github-*.yaml
	$(BIN)/golangci-lint fmt --diff
	$(BIN)/golangci-lint run
	cd test && ../$(BIN)/golangci-lint run --config ../.golangci.yml

.PHONY: deadcode
deadcode: $(BIN)/deadcode ## List functions that no command and no test reaches
	hack/deadcode.sh $(BIN)/deadcode

.PHONY: measure-house
measure-house: ## Measure the source tree: files, packages, methods of types, copied lines, changes of file while reading
	hack/measure-house.sh

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format all Go files
	$(BIN)/golangci-lint fmt

.PHONY: notice
notice: ## Write the licence texts of all linked modules
	go run ./internal/generate notice ./cmd/kubectl-kruise THIRD-PARTY-LICENSES

.PHONY: bench
bench: ## Measure rendering, kustomizations, the start, how cost grows, planning, simulating and drawing, as ratios
	go run ./internal/testing/bench
	go test ./pkg/plan ./pkg/plan/simulate ./pkg/tui -run '^$$' -bench . -benchtime 3x

.PHONY: bench-compare
bench-compare: ## Compare benchmarks with those of BASE=v1.2.3, by default the newest tag (needs the network)
	@hack/bench-compare.sh $(BASE)

FUZZTIME ?= 10m
.PHONY: fuzz
fuzz: ## Run every fuzz target in turn (FUZZTIME=10m each; continues where it stopped)
	@hack/fuzz.sh $(FUZZTIME) $(OUT)/fuzz.done

.PHONY: reference
reference: $(BIN)/kubectl-kruise ## Generate docs/reference from the command tree
	rm -rf docs/reference
	$(BIN)/kubectl-kruise generate-docs --directory docs/reference

.PHONY: generate
generate: reference ## Generate files (docs, plugins/kustomize/component)
	go generate ./...
	$(BIN)/kubectl-kruise schema kustomize --out plugins/kustomize/component
	@mkdir -p $(OUT)
	$(BIN)/kubectl-kruise render -k examples/shop/overlays/prod --target kruise -q > $(OUT)/prod.yaml
	$(BIN)/kubectl-kruise plan cloneset/storefront --against $(OUT)/prod.yaml --image app=registry.example.com/web/storefront:4.8.0 \
	  --steps 1,50%,100% --pause-after 1 --pause 5m -o svg > docs/rollout.svg

.PHONY: pictures
pictures: ## Draw docs/pictures again: the terminal interface on the cluster of the demo, the session that the README shows, and a report (needs Chromium)
	UPDATE=1 go test ./pkg/tui -run "TestPictures_OfTheDocs|TestScreens_AsTheyLook" -count=1
	UPDATE=1 go test ./cmd/kubectl-kruise -run TestMovingPicture_IsUpToDate -count=1
	UPDATE=1 go test -C test ./browser -run TestPicture_OfTheDocsIsOfTodaysReport -count=1

.PHONY: release
release: ## Publish the tag that is checked out, with GoReleaser, and write the manifest of krew
	go run github.com/goreleaser/goreleaser/v2@v2.17.1 release --clean
	go run ./internal/generate krew $(VERSION) dist/checksums.txt krew.yaml plugins/krew-index/plugins/kruise.yaml

.PHONY: release-dry-run
release-dry-run: ## Do what a release does, but publish nothing (minutes: six platforms)
	hack/release-dry-run.sh $(if $(filter command line environment,$(origin VERSION)),$(VERSION),v0.0.0)

.PHONY: release-check
release-check: ## Read .goreleaser.yaml as GoReleaser does
	go run -C tools/goreleaser . ../../.goreleaser.yaml

.PHONY: cross
cross: ## Build for all six platforms that are released, and vet the code for two of them
	for p in $(PLATFORMS); do echo $$p; mkdir -p $(OUT)/cross/$${p/\//-}; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -trimpath -ldflags '$(LDFLAGS)' -o $(OUT)/cross/$${p/\//-}/ ./cmd/kubectl-kruise; done
	for p in windows/amd64 darwin/arm64; do CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./cmd/... ./internal/cli/...; done

PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: vuln
vuln: ## Find known vulnerabilities in called code (needs the network)
	go mod verify
	go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 ./...

.PHONY: clean
clean: ## Remove what the other targets made
	rm -rf $(BIN) $(OUT) dist

# Tools, each pinned by a module of its own so that the product's go.mod stays small.
$(BIN)/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	go build -C tools/lint -o "$(CURDIR)/$@" github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(BIN)/actionlint: tools/actionlint/go.mod tools/actionlint/go.sum
	go build -C tools/actionlint -o "$(CURDIR)/$@" github.com/rhysd/actionlint/cmd/actionlint

$(BIN)/gotestsum: tools/gotestsum/go.mod tools/gotestsum/go.sum
	go build -C tools/gotestsum -o "$(CURDIR)/$@" gotest.tools/gotestsum

$(BIN)/krew $(BIN)/validate-krew-manifest &: tools/krew/go.mod tools/krew/go.sum
	go build -C tools/krew -o "$(CURDIR)/$(BIN)/" sigs.k8s.io/krew/cmd/krew sigs.k8s.io/krew/cmd/validate-krew-manifest

$(BIN)/helm3 $(BIN)/helm4 &: tools/helm/go.mod tools/helm/go.sum
	go build -C tools/helm -o "$(CURDIR)/$(BIN)/helm3" helm.sh/helm/v3/cmd/helm
	go build -C tools/helm -o "$(CURDIR)/$(BIN)/helm4" helm.sh/helm/v4/cmd/helm

$(BIN)/deadcode: tools/house/go.mod tools/house/go.sum
	go build -C tools/house -o "$(CURDIR)/$@" golang.org/x/tools/cmd/deadcode

$(BIN)/kustomize: tools/kustomize/go.mod tools/kustomize/go.sum
	go build -C tools/kustomize -o "$(CURDIR)/$@" sigs.k8s.io/kustomize/kustomize/v5
