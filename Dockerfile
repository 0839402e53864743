# syntax=docker/dockerfile:1

# The images of Assay. To build them with a Docker engine:
#   docker build --target assay -t assay .
#   docker build --target assay-load -t assay-load .
#   docker build --target assay-k6 -t assay-k6 .
# `make images` builds them without one, and `make test-dockerfile` checks that they hold the same.

# Another image with Go's toolchain, where this one can't be pulled. A release needs its digest: make pin-base-image.
ARG GO_IMAGE=golang:1.26

# The programs are cross-compiled: this stage runs on the builder's platform.
FROM --platform=$BUILDPLATFORM $GO_IMAGE AS build
# The tag keeps a part of Google's client for buckets out, as in the Makefile.
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false -tags=disable_grpc_modules"
WORKDIR /src
# Copy only what is compiled, so that other changes keep the cache valid.
COPY go.mod go.sum LICENSE ./
COPY api api
COPY internal internal
COPY hack/bom hack/bom

FROM build AS build-assay
COPY cmd cmd
COPY config config
COPY controllers controllers
ARG TARGETOS TARGETARCH VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/manager ./cmd/agent ./cmd/pin && \
    go -C hack/bom run . --image assay --version "$VERSION" --output /sbom --module-cache "$(go env GOMODCACHE)" \
      --source github.com/assay-dev/assay=/src /out/manager /out/agent /out/pin

FROM build AS build-assay-load
COPY cmd cmd
ARG TARGETOS TARGETARCH VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/assay-load && \
    go -C hack/bom run . --image assay-load --version "$VERSION" --output /sbom --module-cache "$(go env GOMODCACHE)" \
      --source github.com/assay-dev/assay=/src /out/assay-load

# The module k6 uses the root module from its parent directory.
FROM build AS build-assay-k6
COPY k6 k6
ARG TARGETOS TARGETARCH VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go -C k6 build -ldflags "-s -w -X main.version=$VERSION" -o /out/ ./cmd/assay-k6 && \
    go -C hack/bom run . --image assay-k6 --version "$VERSION" --output /sbom --module-cache "$(go env GOMODCACHE)" \
      --source github.com/assay-dev/assay=/src --source github.com/assay-dev/assay/k6=/src/k6 \
      --unlicensed buf.build/gen/go/prometheus/prometheus/protocolbuffers/go /out/assay-k6

FROM scratch AS assay-load
ARG VERSION=dev
LABEL org.opencontainers.image.vendor="Assay" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.documentation="https://github.com/assay-dev/assay/tree/main/docs" \
      org.opencontainers.image.title="assay-load" \
      org.opencontainers.image.description="Client of Assay, which generates HTTP load" \
      org.opencontainers.image.source="https://github.com/assay-dev/assay" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build-assay-load /out/assay-load /
COPY --from=build-assay-load /sbom /usr/share/assay
USER 65532:65532
ENTRYPOINT ["/assay-load"]

FROM scratch AS assay-k6
ARG VERSION=dev
LABEL org.opencontainers.image.vendor="Assay" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.documentation="https://github.com/assay-dev/assay/tree/main/docs" \
      org.opencontainers.image.title="assay-k6" \
      org.opencontainers.image.description="Client of Assay that runs k6" \
      org.opencontainers.image.source="https://github.com/assay-dev/assay/tree/main/k6" \
      org.opencontainers.image.licenses="AGPL-3.0-only" \
      dev.assay.k6.version="v2.2.0" \
      dev.assay.k6.source="https://github.com/grafana/k6/tree/v2.2.0"
COPY --from=build-assay-k6 /out/assay-k6 /
COPY --from=build-assay-k6 /sbom /usr/share/assay
USER 65532:65532
ENTRYPOINT ["/assay-k6"]

FROM scratch AS assay
ARG VERSION=dev
LABEL org.opencontainers.image.vendor="Assay" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.documentation="https://github.com/assay-dev/assay/tree/main/docs" \
      org.opencontainers.image.title="assay" \
      org.opencontainers.image.description="Manager, agent and pages of Assay, which benchmarks HTTP servers on Kubernetes" \
      org.opencontainers.image.source="https://github.com/assay-dev/assay" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build-assay /out/manager /manager
# Not readable, so that its process can't be looked into from the start: see internal/agent/protect.go.
COPY --from=build-assay --chmod=0111 /out/agent /agent
COPY --from=build-assay /out/pin /pin
COPY --from=build-assay /sbom /usr/share/assay
USER 65532:65532
ENTRYPOINT ["/manager"]
