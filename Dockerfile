# syntax=docker/dockerfile:1

# The two images of Assay, for those who build with a Docker engine:
#   docker build --target assay -t assay .
#   docker build --target assay-load -t assay-load .
# `make images` builds the same without one.

# Programs are cross-compiled: the stage runs on the builder's own platform.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ENV CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false"
WORKDIR /src
# Only what is compiled, so that a change of anything else builds nothing.
COPY go.mod go.sum ./
COPY api api
COPY internal internal

FROM build AS build-assay
COPY cmd cmd
COPY controllers controllers
ARG TARGETOS TARGETARCH
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    GOOS=$TARGETOS GOARCH=$TARGETARCH go build -ldflags "-s -w" -o /out/ ./cmd/manager ./cmd/agent

# The module load takes the root module from the folder above it.
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
