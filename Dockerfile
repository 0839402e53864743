# syntax=docker/dockerfile:1

# The two images of Assay. To build them with a Docker engine:
#   docker build --target assay -t assay .
#   docker build --target assay-load -t assay-load .
# `make images` builds them without one.

# The programs are cross-compiled: this stage runs on the builder's platform.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"
WORKDIR /src
# Copy only what is compiled, so that other changes keep the cache valid.
COPY go.mod go.sum ./
COPY api api
COPY internal internal

FROM build AS build-assay
COPY cmd cmd
COPY controllers controllers
ARG TARGETOS TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w" -o /out/ ./cmd/manager ./cmd/agent

# The module load uses the root module from its parent directory.
FROM build AS build-assay-load
COPY load load
WORKDIR /src/load
ARG TARGETOS TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w" -o /out/ ./cmd/assay-load

FROM scratch AS assay-load
COPY --from=build-assay-load /out/assay-load /assay-load
USER 65532:65532
ENTRYPOINT ["/assay-load"]

FROM scratch AS assay
COPY --from=build-assay /out/manager /out/agent /
USER 65532:65532
ENTRYPOINT ["/manager"]
