# Assay. `make` alone lists the targets.

# ---- Settings ---------------------------------------------------------------

# Holds what outlives a clone: built tools and the parts of test images.
ASSAY_CACHE ?= $(HOME)/.cache/assay
# auto, kind or native. auto uses kind where a Docker engine and kind's node image are available.
CLUSTER_ENGINE ?= auto
# The number of nodes of a new cluster, 1 or 2; empty is 1, or as many as the cluster has.
NODES ?=
# Where to write a copy of the cluster's kubeconfig.
KUBECONFIG_FILE ?= $(CURDIR)/.cluster/kubeconfig
# Tags of the images that the cluster runs.
IMAGE ?= localhost/assay:dev
LOAD_IMAGE ?= localhost/assay-load:dev
K6_IMAGE ?= localhost/assay-k6:dev
TEST_SERVER_IMAGE ?= localhost/assay-test/server:dev
TOMCAT_IMAGE ?= localhost/assay-test/tomcat:9.0
TOMCAT_VERSION ?= 9.0.98
TOMCAT_10_IMAGE ?= localhost/assay-test/tomcat:10.1
TOMCAT_10_VERSION ?= 10.1.34
TOMCAT_11_IMAGE ?= localhost/assay-test/tomcat:11
TOMCAT_11_VERSION ?= 11.0.21
TOMCAT_11_JDK25_IMAGE ?= localhost/assay-test/tomcat:11-jdk25
HTTPD_IMAGE ?= localhost/assay-test/httpd:2.4
NGINX_IMAGE ?= localhost/assay-test/nginx:1
CADDY_IMAGE ?= localhost/assay-test/caddy:2
HAPROXY_IMAGE ?= localhost/assay-test/haproxy:2
JETTY_IMAGE ?= localhost/assay-test/jetty:12.1
JETTY_VERSION ?= 12.1.12
JETTY_JDK25_IMAGE ?= localhost/assay-test/jetty:12.1-jdk25
JETTY_12_0_JDK25_IMAGE ?= localhost/assay-test/jetty:12.0-jdk25
JETTY_12_0_VERSION ?= 12.0.31
# The version of the Python package that has Java 25.
JDK25 ?= 25.0.2.1
JDKHTTP_IMAGE ?= localhost/assay-test/jdkhttp:dev
NANOHTTPD_IMAGE ?= localhost/assay-test/nanohttpd:dev
NANOHTTPD_VERSION ?= 2.3.1
BLOCKING_IMAGE ?= localhost/assay-test/blocking:dev
AB_IMAGE ?= localhost/assay-test/ab:2.4
SIEGE_IMAGE ?= localhost/assay-test/siege:4
VERSION ?= dev
# How long make fuzz runs each fuzz test: a duration, or a number of executions such as 100000x.
FUZZTIME ?= 1m

# ---- Derived from the settings -----------------------------------------------

export ASSAY_CACHE
# The linter caches file paths. With a shared cache it would report in one clone
# what it found in another.
export GOLANGCI_LINT_CACHE := $(ASSAY_CACHE)/lint/$(shell echo $(CURDIR) | cksum | cut -d' ' -f1)
export PATH := $(ASSAY_CACHE)/bin:$(PATH)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

BIN := $(CURDIR)/bin
IMAGES := $(ASSAY_CACHE)/images
SERVER_ARCHIVES := $(patsubst %,$(IMAGES)/%.tar,tomcat-9.0 tomcat-10.1 tomcat-11 tomcat-11-jdk25 httpd-2.4 nginx-1 caddy-2 haproxy-2 jetty-12.1 jetty-12.1-jdk25 jetty-12.0-jdk25 jdkhttp nanohttpd blocking ab-2.4 siege-4)
# What the images are built from, and under which licenses: docs/install.md.
REPOSITORY := https://github.com/assay-dev/assay
K6_VERSION := $(shell awk '$$1 == "go.k6.io/k6/v2" {print $$2}' k6/go.mod)
LABELS = --label org.opencontainers.image.vendor=Assay \
  --label org.opencontainers.image.version=$(VERSION) \
  --label org.opencontainers.image.documentation=$(REPOSITORY)/tree/main/docs
ASSAY_LABELS = $(LABELS) --label org.opencontainers.image.title=assay \
  --label "org.opencontainers.image.description=Manager, agent and pages of Assay, which benchmarks HTTP servers on Kubernetes" \
  --label org.opencontainers.image.source=$(REPOSITORY) \
  --label org.opencontainers.image.licenses=Apache-2.0
LOAD_LABELS = $(LABELS) --label org.opencontainers.image.title=assay-load \
  --label "org.opencontainers.image.description=Client of Assay, which generates HTTP load" \
  --label org.opencontainers.image.source=$(REPOSITORY) \
  --label org.opencontainers.image.licenses=Apache-2.0
K6_LABELS = $(LABELS) --label org.opencontainers.image.title=assay-k6 \
  --label "org.opencontainers.image.description=Client of Assay that runs k6" \
  --label org.opencontainers.image.source=$(REPOSITORY)/tree/main/k6 \
  --label org.opencontainers.image.licenses=AGPL-3.0-only \
  --label dev.assay.k6.version=$(K6_VERSION) \
  --label dev.assay.k6.source=https://github.com/grafana/k6/tree/$(K6_VERSION)
BOM_TOOL = assay-bom
# Flags of assay-image for the content of the images: $(1) is the directory of the programs, $(2) that of the bill of materials. Those of
# the clients have the program $(1) of the directory $(2).
# The agent's program isn't readable, so that its process can't be looked into from the start:
# see internal/agent/protect.go.
ASSAY_CONTENT = --user 65532:65532 --layer $(1)/manager=/manager,$(1)/agent=/agent:0111,$(1)/pin=/pin --layer $(2)=/usr/share/assay --entrypoint /manager
LOAD_CONTENT = --user 65532:65532 --layer $(2)/$(1)=/$(1) --layer $(3)=/usr/share/assay --entrypoint /$(1)
BOM = $(BOM_TOOL) --version $(VERSION) --module-cache "$$(go env GOMODCACHE)" \
  --source github.com/assay-dev/assay=. --source github.com/assay-dev/assay/k6=k6 \
  --unlicensed buf.build/gen/go/prometheus/prometheus/protocolbuffers/go
# The tag keeps gRPC's balancers and proxies out of the client of Google Cloud Storage, which uses HTTP: 13 MB.
GO_BUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags disable_grpc_modules
CLUSTER := assay-cluster --engine $(CLUSTER_ENGINE) --kubeconfig-copy $(KUBECONFIG_FILE)
# With a Docker engine kind needs no Debian packages and pulls its node image. Without one it runs on
# podman, with a node image that is built here.
KIND := $(filter kind,$(CLUSTER_ENGINE))
KIND_ON_PODMAN := $(if $(KIND),$(shell docker info >/dev/null 2>&1 || echo yes))
CLUSTER_DEPS := $(if $(KIND),$(if $(KIND_ON_PODMAN),kind-deps),deps)
CLUSTER_TOOLS := kubernetes etcd coredns
DEV_TOOLS := controller-gen kustomize buf protoc-gen-go protoc-gen-go-grpc golangci-lint helm helm-unittest actionlint
# auto uses kind only with a Docker engine.
KIND_TOOL := $(if $(or $(KIND),$(shell command -v docker 2>/dev/null)),kind)

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-zA-Z0-9_.-]+:.*## / {printf "  %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ Tools

.PHONY: deps
deps: ## Install the Debian packages that the cluster and the test images need
	@hack/install-deps.sh

.PHONY: kind-deps
kind-deps: # Install the Debian packages that kind needs where there is no Docker engine
	@hack/install-deps.sh kind

.PHONY: tools
tools: cluster-tools ## Build every tool into the per-user cache
	@hack/tools/build.sh $(DEV_TOOLS)

.PHONY: cluster-tools
cluster-tools: # Build what the cluster itself consists of
	@hack/tools/build.sh $(CLUSTER_TOOLS) $(KIND_TOOL)
	@cd hack/cluster && $(GO_BUILD) -ldflags "-s -w" -o $(ASSAY_CACHE)/bin/assay-cluster .

.PHONY: image-tool
image-tool: # Build assay-image, which writes image archives
	@hack/check-go.sh
	@cd hack/image && $(GO_BUILD) -ldflags "-s -w" -o $(ASSAY_CACHE)/bin/assay-image .

.PHONY: bom-tool
bom-tool: # Build assay-bom, which lists what programs are built from
	@hack/check-go.sh
	@cd hack/bom && $(GO_BUILD) -ldflags "-s -w" -o $(ASSAY_CACHE)/bin/assay-bom .

##@ Local cluster

.PHONY: cluster-up
cluster-up: $(CLUSTER_DEPS) cluster-tools system-images $(if $(KIND_ON_PODMAN),kind-node-image) ## Start the local cluster, or those parts of it that are down; NODES=2 adds a node
	@$(CLUSTER) up --images $(IMAGES) $(if $(NODES),--nodes $(NODES))

.PHONY: cluster-down
cluster-down: ## Remove the local cluster without a trace
	@[[ -x $(ASSAY_CACHE)/bin/assay-cluster ]] || hack/tools/build.sh $(CLUSTER_TOOLS)
	@cd hack/cluster && $(GO_BUILD) -ldflags "-s -w" -o $(ASSAY_CACHE)/bin/assay-cluster .
	@$(CLUSTER) down

.PHONY: cluster-status
cluster-status: ## Show the parts of the local cluster and their health
	@$(CLUSTER) status

.PHONY: test-cluster-down
test-cluster-down: cluster-tools system-images ## Check that the native cluster leaves nothing behind
	@hack/cluster/leak-test.sh

.PHONY: test-kind-down
test-kind-down: kind-deps kind-node-image ## Check that kind on podman leaves nothing behind
	@hack/cluster/leak-test-kind.sh

##@ Fuzzing

.PHONY: fuzz
fuzz: ## Fuzz each decoder of what pods, servers and users write, for FUZZTIME
	@hack/fuzz.sh $(FUZZTIME)

##@ Images

.PHONY: images
images: assay-image assay-load-image assay-k6-image tomcat-image ## Build all images

.PHONY: load-images
load-images: images ## Build all images and load them into the cluster
	@$(CLUSTER) load $(BIN)/images/assay.tar $(BIN)/images/assay-load.tar $(BIN)/images/assay-k6.tar $(IMAGES)/tomcat-9.0.tar

.PHONY: assay-image
assay-image: image-tool assay-sbom # Build the image of the manager, the agent and pin
	@assay-image --tag $(IMAGE) --output $(BIN)/images/assay.tar $(ASSAY_LABELS) $(call ASSAY_CONTENT,$(BIN)/image,$(BIN)/sbom/assay)

.PHONY: assay-load-image
assay-load-image: image-tool assay-load-sbom # Build the image of the client
	@assay-image --tag $(LOAD_IMAGE) --output $(BIN)/images/assay-load.tar $(LOAD_LABELS) $(call LOAD_CONTENT,assay-load,$(BIN)/image,$(BIN)/sbom/assay-load)

.PHONY: assay-k6-image
assay-k6-image: image-tool assay-k6-sbom # Build the image of the client that runs k6
	@assay-image --tag $(K6_IMAGE) --output $(BIN)/images/assay-k6.tar $(K6_LABELS) $(call LOAD_CONTENT,assay-k6,$(BIN)/image,$(BIN)/sbom/assay-k6)

.PHONY: sbom
sbom: assay-sbom assay-load-sbom assay-k6-sbom ## Write the bill of materials and the licenses of all images to bin/sbom

.PHONY: assay-sbom
assay-sbom: bom-tool
	@$(GO_BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)/image/ ./cmd/manager ./cmd/agent ./cmd/pin
	@$(BOM) --image assay --output $(BIN)/sbom/assay $(BIN)/image/manager $(BIN)/image/agent $(BIN)/image/pin

.PHONY: assay-load-sbom
assay-load-sbom: bom-tool
	@$(GO_BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)/image/ ./cmd/assay-load
	@$(BOM) --image assay-load --output $(BIN)/sbom/assay-load $(BIN)/image/assay-load

.PHONY: assay-k6-sbom
assay-k6-sbom: bom-tool
	@cd k6 && $(GO_BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(BIN)/image/ ./cmd/assay-k6
	@$(BOM) --image assay-k6 --output $(BIN)/sbom/assay-k6 $(BIN)/image/assay-k6

.PHONY: tomcat-image
tomcat-image: deps image-tool ## Build the Tomcat image that the demo and the scenarios use
	@hack/image/tomcat/build.sh $(TOMCAT_VERSION) $(TOMCAT_IMAGE) $(IMAGES)/tomcat-9.0.tar

.PHONY: server-images
server-images: tomcat-image ## Build the images of all real servers that the scenarios use
	@hack/image/tomcat/build.sh $(TOMCAT_10_VERSION) $(TOMCAT_10_IMAGE) $(IMAGES)/tomcat-10.1.tar
	@hack/image/tomcat/build.sh $(TOMCAT_11_VERSION) $(TOMCAT_11_IMAGE) $(IMAGES)/tomcat-11.tar
	@hack/image/httpd/build.sh $(HTTPD_IMAGE) $(IMAGES)/httpd-2.4.tar
	@hack/image/nginx/build.sh $(NGINX_IMAGE) $(IMAGES)/nginx-1.tar
	@hack/image/tomcat/build.sh $(TOMCAT_11_VERSION) $(TOMCAT_11_JDK25_IMAGE) $(IMAGES)/tomcat-11-jdk25.tar $(JDK25)
	@hack/image/jetty/build.sh $(JETTY_VERSION) $(JETTY_IMAGE) $(IMAGES)/jetty-12.1.tar
	@hack/image/jetty/build.sh $(JETTY_VERSION) $(JETTY_JDK25_IMAGE) $(IMAGES)/jetty-12.1-jdk25.tar $(JDK25)
	@hack/image/jetty/build.sh $(JETTY_12_0_VERSION) $(JETTY_12_0_JDK25_IMAGE) $(IMAGES)/jetty-12.0-jdk25.tar $(JDK25)
	@hack/image/debian/build.sh apache2-utils $(AB_IMAGE) $(IMAGES)/ab-2.4.tar
	@hack/image/debian/build.sh siege $(SIEGE_IMAGE) $(IMAGES)/siege-4.tar
	@hack/image/debian/build.sh caddy $(CADDY_IMAGE) $(IMAGES)/caddy-2.tar
	@hack/image/debian/build.sh haproxy $(HAPROXY_IMAGE) $(IMAGES)/haproxy-2.tar
	@hack/image/java/build.sh test/servers/jdkhttp FileServer $(JDKHTTP_IMAGE) $(IMAGES)/jdkhttp.tar
	@hack/image/java/build.sh test/servers/blocking FileServer $(BLOCKING_IMAGE) $(IMAGES)/blocking.tar
	@hack/image/java/build.sh test/servers/nanohttpd FileServer $(NANOHTTPD_IMAGE) $(IMAGES)/nanohttpd.tar \
	  org.nanohttpd:nanohttpd:$(NANOHTTPD_VERSION):jar org.nanohttpd:nanohttpd-webserver:$(NANOHTTPD_VERSION):jar

.PHONY: test-server-image
test-server-image: image-tool ## Build the server of known behavior that the scenarios use
	@$(GO_BUILD) -ldflags "-s -w" -o $(BIN)/image/ ./test/server
	@assay-image --tag $(TEST_SERVER_IMAGE) --output $(BIN)/images/server.tar --user 65532:65532 \
	  --layer $(BIN)/image/server=/server --entrypoint /server

.PHONY: load-test-images
load-test-images: test-server-image server-images ## Build the servers that the scenarios use and load them into the cluster
	@$(CLUSTER) load $(BIN)/images/server.tar $(SERVER_ARCHIVES)

.PHONY: cert-manager-image
cert-manager-image: image-tool ## Build cert-manager for the scenarios that use its certificates
	@hack/tools/build.sh cert-manager
	@assay-image --tag localhost/assay-test/cert-manager:dev --output $(IMAGES)/cert-manager.tar --user 65532:65532 \
	  --layer $(ASSAY_CACHE)/bin/cert-manager=/cert-manager --entrypoint /cert-manager

.PHONY: system-images
system-images: cluster-tools image-tool # Build the images that the cluster itself runs
	@cd hack/image && $(GO_BUILD) -ldflags "-s -w" -o $(ASSAY_CACHE)/build/pause ./pause
	@assay-image --tag localhost/assay-test/pause:dev --output $(IMAGES)/pause.tar --user 65535:65535 \
	  --layer $(ASSAY_CACHE)/build/pause=/pause --entrypoint /pause
	@assay-image --tag localhost/assay-test/coredns:dev --output $(IMAGES)/coredns.tar --user 65532:65532 \
	  --layer $(ASSAY_CACHE)/bin/coredns=/coredns --entrypoint /coredns

.PHONY: kind-node-image
kind-node-image: cluster-tools system-images ## Build a node image for kind, which needs no registry of images
	@hack/tools/build.sh kind kubeadm
	@hack/kind/build.sh localhost/assay-test/kind-node:dev $(IMAGES)/kind-node.tar

##@ Development loop

# The client's image is large and changes rarely: it is built with CLIENT=1, or
# when this clone has none yet.
DEV_CLIENT = $(if $(CLIENT),yes,$(if $(wildcard $(BIN)/images/assay-load.tar $(BIN)/images/assay-k6.tar),,yes))

.PHONY: dev
dev: assay-image $(if $(DEV_CLIENT),assay-load-image assay-k6-image) ## Build and load the manager and agent, and restart the manager; CLIENT=1 includes the clients
	@$(CLUSTER) load $(BIN)/images/assay.tar $(if $(DEV_CLIENT),$(BIN)/images/assay-load.tar $(BIN)/images/assay-k6.tar)
	@$(MAKE) install

##@ Code

.PHONY: fmt
fmt: ## Format the Go code of all modules
	@gofmt -l -w $$(git ls-files -co --exclude-standard '*.go')

.PHONY: generate
generate: ## Generate CRDs, roles, deep copies, the protocol, the chart, the API reference and dist/install.yaml
	@hack/tools/build.sh controller-gen kustomize buf protoc-gen-go protoc-gen-go-grpc
	@controller-gen object crd paths=./api/... output:crd:artifacts:config=config/crd/bases
	@go run ./hack/docs/apiref docs/api.md config/crd/bases/assay.dev_benchmarkruns.yaml config/crd/bases/assay.dev_benchmarks.yaml
	@go run ./hack/crd config/crd/bases/assay.dev_benchmarks.yaml config/crd/bases/assay.dev_benchmarkruns.yaml internal/load/planfile/schema.json
	@controller-gen rbac:roleName=manager-role paths="{./controllers/...,./cmd/manager/...}" output:rbac:artifacts:config=config/rbac
	@buf generate
	@go test ./internal/load/planfile -run TestFields -update >/dev/null
	@hack/helm-sync.sh
	@$(MAKE) build-installer

.PHONY: manifests
manifests: generate ## Alias of generate; kubebuilder's name for it

.PHONY: build-installer
build-installer: ## Write dist/install.yaml for kubectl apply
	@hack/tools/build.sh kustomize
	@mkdir -p dist && kustomize build config/default --output dist/install.yaml

.PHONY: docs
docs: ## Build the documentation as a site in bin/docs, with every link checked
	@hack/docs/build.sh

.PHONY: tidy
tidy: ## Tidy all modules
	@for module in $$(git ls-files -co --exclude-standard '*go.mod'); do \
	  (cd "$$(dirname "$$module")" && GOFLAGS= go mod tidy); done

.PHONY: lint
lint: ## Lint both modules, the protocol, the chart and the workflows
	@hack/tools/build.sh golangci-lint buf helm helm-unittest kustomize actionlint
	@golangci-lint run --allow-parallel-runners ./...
	@cd k6 && golangci-lint run --allow-parallel-runners ./...
	@buf lint
	@buf format --diff --exit-code
	@helm lint --strict charts/assay
	@helm-unittest charts/assay
	@kustomize build config/certmanager >/dev/null
	@actionlint -shellcheck= -pyflakes= .github/workflows/*.yml config/gitops/recipes/github-actions/*.yaml

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities in what both modules call; VULN_DB=URL selects another database
	@hack/vulncheck.sh

.PHONY: verify
verify: ## Fail unless all is generated, formatted, tidy, free of lint and within the budget of lines
	@hack/verify.sh

##@ Tests

.PHONY: test-unit
test-unit: ## Run the tests that need no API server and no cluster
	@hack/install-deps.sh units
	@go test ./api/... ./cmd/... ./internal/... ./test/chaos/... ./test/docs/... ./test/doors/... ./test/hostile/... ./test/wrapper/... ./test/benchmark/... ./test/server/... ./test/benchload/... ./test/findings/... ./test/reports/... ./test/release/... ./hack/budget/... ./hack/crd/... ./hack/docs/...
	@cd k6 && go test ./...

.PHONY: test-api
test-api: ## Run the tests of the API's rules and of the reconcilers on an API server without nodes
	@hack/tools/build.sh kubernetes etcd helm
	@KUBEBUILDER_ASSETS=$(ASSAY_CACHE)/bin go test -timeout 20m ./test/api/... ./test/install/... ./controllers/...

.PHONY: test-two-managers
test-two-managers: ## Run three managers beside each other for ten minutes, of which one may serve
	@hack/tools/build.sh kubernetes etcd helm
	@KUBEBUILDER_ASSETS=$(ASSAY_CACHE)/bin go test -count=1 -timeout 20m ./test/install -run '^TestTwoManagers$$' -hold 10m

.PHONY: test-e2e
test-e2e: cluster-up load-images load-test-images install install-cert-manager plugin ## Run the scenarios on the local cluster; ARGS="-run NAME" selects some
	@KUBECONFIG=$(KUBECONFIG_FILE) go test -count=1 -tags e2e -parallel 4 -timeout 35m -skip '^TestNodes$(if $(ARGS),,|$(LONG_SCENARIOS))' ./test/e2e/... $(ARGS)

# Those that take a minute or more each, and that nothing else of make test needs.
LONG_SCENARIOS := ^(TestSampleR1|TestSamples|TestFullResultsInABucket)\b

.PHONY: test-long
test-long: ## Run the scenarios that make test leaves out: the samples of the reports, full results on an S3 server
	@$(MAKE) test-e2e ARGS="-run '$(LONG_SCENARIOS)'"

# The manager stays on the node that isn't lost.
.PHONY: test-nodes
test-nodes: NODES := 2
test-nodes: HELM_ARGS := --set-string 'nodeSelector.kubernetes\.io/hostname=assay'
test-nodes: cluster-up load-images test-server-image install ## Run the scenarios that need two nodes on a local cluster with NODES=2; ARGS="-run NAME" selects some
	@$(CLUSTER) load $(BIN)/images/server.tar
	@KUBECONFIG=$(KUBECONFIG_FILE) go test -count=1 -tags e2e -timeout 25m -run '^TestNodes' ./test/e2e $(ARGS)

# The cluster has a kubeconfig of its own, so that another one isn't replaced.
MAKE_KIND = $(MAKE) CLUSTER_ENGINE=kind KUBECONFIG_FILE=$(CURDIR)/.cluster/kind

# The patterns end with \b: a $ would be expanded once more by the make that is called.
.PHONY: test-kind
test-kind: ## Run the demo and a part of the scenarios on kind, with one node and with two
	@trap '$(MAKE_KIND) cluster-down' EXIT; \
	$(MAKE_KIND) demo; \
	$(MAKE_KIND) test-e2e ARGS="-run '^(TestServers|TestFaults|TestHelm)\b'"; \
	$(MAKE_KIND) cluster-down; \
	$(MAKE_KIND) test-nodes ARGS="-run '^TestNodes(Apart|Together)\b'"

.PHONY: test-hostile
test-hostile: cluster-up load-images test-server-image install ## Attack the manager on the local cluster as tenants, pods and clients for ten minutes; ARGS=-help lists flags
	@$(CLUSTER) load $(BIN)/images/server.tar
	@$(GO_BUILD) -o $(BIN)/hostile ./test/hostile
	@KUBECONFIG=$(KUBECONFIG_FILE) $(BIN)/hostile $(ARGS)

.PHONY: test
test: test-unit test-api test-modules test-browser test-e2e test-chaos ## Run every test that takes minutes; CONTRIBUTING.md lists the others

.PHONY: test-modules
test-modules: # Test the tools that build the cluster and the images, the dashboard and the alerts, what GitOps tools make of both kinds, and buckets
	@cd hack/cluster && go test ./...
	@cd hack/image && go test ./...
	@cd hack/bom && go test ./...
	@cd test/promql && go test ./...
	@cd test/gitops && go test ./...
	@cd test/s3 && go test ./...
	@$(MAKE) test-versions

.PHONY: test-kubebuilder
test-kubebuilder: ## Scaffold a further kind with kubebuilder in a copy of this clone, and build it
	@hack/kubebuilder-test.sh

.PHONY: test-versions
test-versions: # Validate both CustomResourceDefinitions as the newest and the oldest Kubernetes that is supported
	@cd test/versions && go test . && go test -modfile=oldest.mod .

.PHONY: test-dockerfile
test-dockerfile: kind-deps assay-image assay-load-image assay-k6-image ## Build the Dockerfile with podman and compare its images with those of make images
	@hack/dockerfile-test.sh assay=$(BIN)/images/assay.tar assay-load=$(BIN)/images/assay-load.tar assay-k6=$(BIN)/images/assay-k6.tar

.PHONY: test-browser
test-browser: ## Check the pages of reports and of the UI in Chromium; ARGS="-run TestPages/NAME" selects one
	@hack/install-deps.sh browser
	@AXE=$$(hack/axe.sh) && cd test/browser && AXE=$$AXE go test ./... $(ARGS)

.PHONY: test-docs
test-docs: docs ## Check the documentation as a site in Chromium
	@hack/install-deps.sh browser
	@AXE=$$(hack/axe.sh) && cd test/browser && DOCS=$(BIN)/docs AXE=$$AXE go test -count=1 -tags docs -run TestDocs .

.PHONY: screenshots
screenshots: ## Write screenshots of the pages of reports to docs/screenshots
	@hack/install-deps.sh browser
	@mkdir -p docs/screenshots
	@cd test/browser && go test -count=1 -run TestScreenshots . -screenshots $(CURDIR)/docs/screenshots

.PHONY: bench-pages
bench-pages: ## Measure in Chromium the page of an hour with ten clients, and the list of 1,000 runs
	@hack/install-deps.sh browser
	@cd test/browser && go test -run '^$$' -bench 'Hour|List' -benchtime 10x .

# The kinds of faults that test-chaos makes once each: those that take less than half a minute.
CHAOS_KINDS := manager-killed manager-out-of-memory leader-killed \
  api-server-stopped etcd-stopped scheduler-stopped kubelet-stopped dns-gone client-killed client-deleted \
  client-evicted client-out-of-memory server-killed agent-killed target-evicted client-cut-off \
  artifact-over-quota artifact-denied target-denied namespace-deleted

.PHONY: chaos-deps
chaos-deps: cluster-up load-images test-server-image install
	@$(CLUSTER) load $(BIN)/images/server.tar
	@$(GO_BUILD) -o $(BIN)/chaos ./test/chaos

.PHONY: chaos
chaos: chaos-deps ## Strike runs on the local cluster with random faults; ARGS=-help lists flags
	@KUBECONFIG=$(KUBECONFIG_FILE) $(BIN)/chaos $(ARGS)

.PHONY: test-chaos
test-chaos: chaos-deps ## Strike runs with 20 faults of a fixed seed
	@KUBECONFIG=$(KUBECONFIG_FILE) $(BIN)/chaos -seed 1 -faults 20 -max-outage 5s -kinds '$(CHAOS_KINDS)'

.PHONY: test-benchmark
test-benchmark: cluster-up load-images test-server-image install ## Show that Benchmarks conclude what is known, with a manager that is killed; ARGS=-help lists flags
	@$(CLUSTER) load $(BIN)/images/server.tar
	@$(GO_BUILD) -o $(BIN)/benchmark ./test/benchmark
	@KUBECONFIG=$(KUBECONFIG_FILE) $(BIN)/benchmark $(ARGS)

.PHONY: reports
reports: cluster-up load-images load-test-images install plugin ## Repeat the published reports at their small size, and write docs/reports; ARGS="-only r3" selects, ARGS=-help explains
	@hack/tools/build.sh kubernetes
	@$(GO_BUILD) -o $(BIN)/reports ./test/reports
	@KUBECONFIG=$(KUBECONFIG_FILE) $(BIN)/reports $(ARGS)

.PHONY: test-findings
test-findings: cluster-up load-images load-test-images install ## Provoke each finding, and make runs near it that must not have it; ARGS=-help lists flags
	@$(GO_BUILD) -o $(BIN)/findings ./test/findings
	@KUBECONFIG=$(KUBECONFIG_FILE) $(BIN)/findings $(ARGS)

.PHONY: bench-deps
bench-deps: ## Install the Debian packages that bench-load compares, and build stock k6
	@hack/install-deps.sh bench
	@hack/tools/build.sh k6

.PHONY: bench-load
bench-load: bench-deps assay-load ## Measure the CPU time per request of assay-load and other load tools; ARGS=-help lists flags
	@$(GO_BUILD) -o $(BIN)/benchload ./test/benchload
	@$(BIN)/benchload $(ARGS)

.PHONY: bench-noise
bench-noise: ## Measure where the noise of a benchmark is, in 15 minutes; KEEP=1 adds the result to docs/statistics.md, ARGS=-help lists flags
	@hack/install-deps.sh noise
	@$(GO_BUILD) -o $(BIN)/ ./test/noise ./test/server
	@$(BIN)/noise -out $(BIN)/noise.json $(ARGS)
ifdef KEEP
	@mkdir -p docs/design/data
	@mv $(BIN)/noise.json docs/design/data/noise-$$(date -u +%Y-%m-%d-%H%M).json
	@go test -count=1 ./test/noise -run TestPage -update
endif

.PHONY: bench-overhead
bench-overhead: cluster-up load-images load-test-images install ## Measure the time that Assay adds to a run, as medians of 10 runs
	@KUBECONFIG=$(KUBECONFIG_FILE) go run ./test/overhead

.PHONY: bench-manager
bench-manager: cluster-tools ## Measure the manager's CPU time, memory and API calls with simulated pods; ARGS=-help explains
	@$(GO_BUILD) -ldflags "-s -w" -o $(BIN)/image/ ./cmd/manager
	@$(GO_BUILD) -o $(BIN)/benchmanager ./test/benchmanager
	@$(BIN)/benchmanager $(ARGS)

include hack/release/release.mk

##@ Use

.PHONY: plugin
plugin: ## Build the kubectl plugin into the per-user cache
	@$(GO_BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(ASSAY_CACHE)/bin/ ./cmd/kubectl-assay
	@install -m 755 cmd/kubectl-assay/kubectl_complete-assay $(ASSAY_CACHE)/bin/

.PHONY: assay-load
assay-load: ## Build the client into the per-user cache for use without a cluster
	@$(GO_BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(ASSAY_CACHE)/bin/ ./cmd/assay-load
	@cd k6 && $(GO_BUILD) -ldflags "-s -w -X main.version=$(VERSION)" -o $(ASSAY_CACHE)/bin/ ./cmd/assay-k6

.PHONY: install
install: ## Install or upgrade the operator on the local cluster with Helm
	@hack/tools/build.sh helm
	@KUBECONFIG=$(KUBECONFIG_FILE) hack/install.sh $(IMAGE) $(LOAD_IMAGE) $(K6_IMAGE) $(HELM_ARGS)

.PHONY: uninstall
uninstall: ## Remove the operator from the local cluster
	@KUBECONFIG=$(KUBECONFIG_FILE) helm uninstall assay --namespace assay-system --ignore-not-found

.PHONY: install-cert-manager
install-cert-manager: cert-manager-image ## Install cert-manager on the local cluster and wait until its webhook is ready
	@hack/tools/build.sh kubernetes helm
	@$(CLUSTER) load $(IMAGES)/cert-manager.tar
	@KUBECONFIG=$(KUBECONFIG_FILE) hack/cert-manager/install.sh $(IMAGES)/cert-manager.tar

.PHONY: uninstall-cert-manager
uninstall-cert-manager: ## Remove cert-manager and all Certificates from the local cluster
	@KUBECONFIG=$(KUBECONFIG_FILE) helm uninstall cert-manager --namespace cert-manager --ignore-not-found --wait
	@KUBECONFIG=$(KUBECONFIG_FILE) kubectl delete namespace cert-manager --ignore-not-found

.PHONY: demo
demo: ## Start a cluster, install the operator, benchmark Tomcat and print the report
	@KUBECONFIG=$(KUBECONFIG_FILE) hack/demo.sh
