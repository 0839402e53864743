# Releases: CONTRIBUTING.md has the steps. Included by the Makefile.

# What a release consists of. Everything here is published, under a version that the tag gives (VERSION=0.2.0); without
# one, under that of the tree.
RELEASE := $(BIN)/release
# What it is made from: programs, bills of materials, OCI layouts, the staged chart and manifests.
RELEASE_WORK := $(BIN)/release-work
RELEASE_VERSION = $(if $(filter dev,$(VERSION)),$(shell hack/release/version.sh),$(patsubst v%,%,$(VERSION)))
IMAGE_PLATFORMS ?= linux/amd64 linux/arm64
PLUGIN_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
# The registry and organization of images and chart.
RELEASE_REGISTRY ?= ghcr.io/assay-dev

# Dates in images and in the chart are that of the commit.
RELEASE_EPOCH = $(shell git log -1 --format=%ct)
RELEASE_LABELS = --label org.opencontainers.image.revision=$(shell git rev-parse HEAD) \
  --label org.opencontainers.image.created=$(shell date -u -d @$(RELEASE_EPOCH) +%Y-%m-%dT%H:%M:%SZ)
# The project's own tools are built for each tree: other trees may replace those in the cache meanwhile.
RELEASE_TOOLS := $(BIN)/tools
RELEASE_IMAGE = $(RELEASE_TOOLS)/assay-image --tag ghcr.io/assay-dev/$(1):$(VERSION) --layout $(RELEASE_WORK)/images/$(1) \
  $(foreach platform,$(IMAGE_PLATFORMS),--platform $(platform)) $(RELEASE_LABELS)
RELEASE_PROGRAMS = $(foreach platform,$(2),$(foreach program,$(1),$(RELEASE_WORK)/$(subst /,-,$(platform))/$(program)))

##@ Release

.PHONY: set-version
set-version: ## Set the version of the tree, in chart, manifests and docs: make set-version VERSION=0.2.0
	@hack/release/set-version.sh $(patsubst v%,%,$(VERSION))
	@hack/helm-sync.sh
	@$(MAKE) build-installer

.PHONY: pin-base-image
pin-base-image: ## Pin the base image of the Dockerfile to its digest; needs the registry
	@hack/tools/build.sh crane
	@hack/release/pin-base.sh

.PHONY: release-check
release-check: ## Fail unless the tree is ready for a tag: make release-check VERSION=0.2.0
	@hack/release/check.sh $(patsubst v%,%,$(VERSION))

.PHONY: release-build
release-build: release-tools ## Build what a release consists of into bin/release, for all platforms
	@hack/tools/build.sh helm kustomize
	@umask 022 && rm -rf $(RELEASE) $(RELEASE_WORK) && mkdir -p $(RELEASE) $(RELEASE_WORK) && \
	  $(MAKE) VERSION=$(RELEASE_VERSION) BOM_TOOL=$(RELEASE_TOOLS)/assay-bom release-programs release-images release-plugin release-chart release-manifests && \
	  hack/release/checksums.sh $(RELEASE) $(RELEASE_VERSION)

.PHONY: release-tools
release-tools:
	@hack/check-go.sh
	@cd hack/image && $(GO_BUILD) -ldflags "-s -w" -o $(RELEASE_TOOLS)/assay-image .
	@cd hack/bom && $(GO_BUILD) -ldflags "-s -w" -o $(RELEASE_TOOLS)/assay-bom .

.PHONY: release-programs
release-programs: # Cross-compile all programs
	@for platform in $(IMAGE_PLATFORMS); do \
	  echo "  build  manager, agent, pin, assay-load, assay-k6 for $$platform"; export GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
	  out=$(RELEASE_WORK)/$$GOOS-$$GOARCH/; \
	  $(GO_BUILD) -ldflags "-s -w -X main.version=v$(VERSION)" -o $$out ./cmd/manager ./cmd/agent ./cmd/pin ./cmd/assay-load; \
	  (cd k6 && $(GO_BUILD) -ldflags "-s -w -X main.version=v$(VERSION)" -o $$out ./cmd/assay-k6); \
	done
	@for platform in $(PLUGIN_PLATFORMS); do \
	  echo "  build  kubectl-assay for $$platform"; export GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
	  $(GO_BUILD) -ldflags "-s -w -X main.version=v$(VERSION)" -o $(RELEASE_WORK)/$$GOOS-$$GOARCH/ ./cmd/kubectl-assay; \
	done

# A bill of materials covers the programs of all platforms.
.PHONY: release-images
release-images: # Write OCI layouts of all images
	@$(BOM) --image assay --output $(RELEASE_WORK)/sbom/assay $(call RELEASE_PROGRAMS,manager agent pin,$(IMAGE_PLATFORMS))
	@$(BOM) --image assay-load --output $(RELEASE_WORK)/sbom/assay-load $(call RELEASE_PROGRAMS,assay-load,$(IMAGE_PLATFORMS))
	@$(BOM) --image assay-k6 --output $(RELEASE_WORK)/sbom/assay-k6 $(call RELEASE_PROGRAMS,assay-k6,$(IMAGE_PLATFORMS))
	@$(call RELEASE_IMAGE,assay) $(ASSAY_LABELS) $(call ASSAY_CONTENT,$(RELEASE_WORK)/linux-{arch},$(RELEASE_WORK)/sbom/assay)
	@$(call RELEASE_IMAGE,assay-load) $(LOAD_LABELS) $(call LOAD_CONTENT,assay-load,$(RELEASE_WORK)/linux-{arch},$(RELEASE_WORK)/sbom/assay-load)
	@$(call RELEASE_IMAGE,assay-k6) $(K6_LABELS) $(call LOAD_CONTENT,assay-k6,$(RELEASE_WORK)/linux-{arch},$(RELEASE_WORK)/sbom/assay-k6)
	@for image in assay assay-load assay-k6; do \
	  cp $(RELEASE_WORK)/sbom/$$image/sbom.cdx.json $(RELEASE)/$$image.cdx.json; \
	  echo "ghcr.io/assay-dev/$$image:$(VERSION)@sha256:$$(sha256sum < $(RELEASE_WORK)/images/$$image/index.json | cut -d' ' -f1)"; \
	done > $(RELEASE)/images.txt

.PHONY: release-plugin
release-plugin: # Write archives of the plugin
	@$(BOM) --image kubectl-assay --output $(RELEASE_WORK)/sbom/kubectl-assay \
	  $(foreach platform,$(PLUGIN_PLATFORMS),$(RELEASE_WORK)/$(subst /,-,$(platform))/kubectl-assay$(if $(filter windows/%,$(platform)),.exe))
	@cp $(RELEASE_WORK)/sbom/kubectl-assay/sbom.cdx.json $(RELEASE)/kubectl-assay.cdx.json
	@for platform in $(PLUGIN_PLATFORMS); do \
	  name=$${platform/\//-}; common="LICENSE=/LICENSE:0644,$(RELEASE_WORK)/sbom/kubectl-assay=/third-party"; \
	  case $$platform in \
	  windows/*) $(RELEASE_TOOLS)/assay-image archive --output $(RELEASE)/kubectl-assay-$$name.zip $(RELEASE_WORK)/$$name/kubectl-assay.exe=/kubectl-assay.exe,$$common ;; \
	  *) $(RELEASE_TOOLS)/assay-image archive --output $(RELEASE)/kubectl-assay-$$name.tar.gz \
	       $(RELEASE_WORK)/$$name/kubectl-assay=/kubectl-assay,cmd/kubectl-assay/kubectl_complete-assay=/kubectl_complete-assay,$$common ;; \
	  esac; \
	done

# Chart and manifests are staged, so that they have the release's version whatever that of the tree is, and the digests of
# the images that were built before.
.PHONY: release-chart
release-chart: release-stage # Package the chart
	@SOURCE_DATE_EPOCH=$(RELEASE_EPOCH) helm package $(RELEASE_WORK)/stage/charts/assay --destination $(RELEASE) >/dev/null
	@touch -d @$(RELEASE_EPOCH) $(RELEASE)/assay-$(VERSION).tgz

.PHONY: release-manifests
release-manifests: release-stage # Write install.yaml
	@kustomize build $(RELEASE_WORK)/stage/config/default --output $(RELEASE)/install.yaml

.PHONY: release-stage
release-stage:
	@rm -rf $(RELEASE_WORK)/stage && mkdir -p $(RELEASE_WORK)/stage/charts
	@cp -r charts/assay $(RELEASE_WORK)/stage/charts/ && cp -r config $(RELEASE_WORK)/stage/
	@hack/release/set-version.sh $(VERSION) $(RELEASE_WORK)/stage
	@hack/release/pin.sh $(RELEASE)/images.txt $(RELEASE_WORK)/stage

.PHONY: release-publish
release-publish: release-tools ## Push and sign what release-build has built; needs credentials for RELEASE_REGISTRY
	@hack/tools/build.sh helm crane cosign
	@hack/release/publish.sh $(RELEASE_VERSION) $(RELEASE_REGISTRY)

.PHONY: release-dry-run
release-dry-run: release-build ## Build a release, publish it to a registry on this machine, and check what is there
	@hack/tools/build.sh helm crane cosign
	@IMAGE_PLATFORMS="$(IMAGE_PLATFORMS)" PLUGIN_PLATFORMS="$(PLUGIN_PLATFORMS)" hack/release/dry-run.sh $(RELEASE_VERSION)

.PHONY: test-release
test-release: ## Build a release in two clones and compare it byte by byte; IMAGE_PLATFORMS and PLUGIN_PLATFORMS select some
	@hack/tools/build.sh helm kustomize
	@IMAGE_PLATFORMS="$(IMAGE_PLATFORMS)" PLUGIN_PLATFORMS="$(PLUGIN_PLATFORMS)" hack/release/reproduce.sh
